// What others ask of a proxy: `/healthz` for load balancers of any node, and one port per Service with externalTrafficPolicy Local that
// says how many of its endpoints are here (https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/).
import { createServer, type Server } from 'node:http';
import type { Clock, Logger } from '#utils';
import { syncPeriodMs } from './limits.ts';

export interface HealthCheck {
  namespace: string;
  serviceName: string;
  port: number;
  localEndpoints: number;
}

export interface ProxyHealth {
  /** The newest change that still has to reach the kernel, if any. */
  pendingSinceMs(): number | undefined;
  /** Monotonic time of the last successful sync. */
  lastSyncMs(): number | undefined;
  /** The node is about to go (deleted, or tainted by the cluster autoscaler). */
  nodeEligible(): boolean;
}

/** Healthy: rules have reached the kernel and no change waits for longer than two full periods. */
export function isHealthy(health: ProxyHealth, nowMs: number): boolean {
  const pending = health.pendingSinceMs();
  return health.lastSyncMs() !== undefined && (pending === undefined || nowMs - pending < 2 * syncPeriodMs);
}

export function serveHealthz({
  health,
  clock,
  host,
  port,
  metrics,
}: {
  health: ProxyHealth;
  clock: Clock;
  host: string;
  port: number;
  metrics?: () => Promise<string>;
}): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/metrics' && metrics)
      return void metrics().then((text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text));
    if (path !== '/healthz' && path !== '/livez') return void response.writeHead(404).end();
    const healthy = isHealthy(health, clock.monotonic());
    // Only /healthz is about traffic: a node that is going away is alive, but wants no new connections.
    const ok = healthy && (path === '/livez' || health.nodeEligible());
    const time = new Date(clock.now()).toISOString();
    const body = { lastUpdated: time, currentTime: time, ...(path === '/healthz' && { nodeEligible: health.nodeEligible() }) };
    response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** One small server per health check node port. */
export class HealthCheckServers {
  readonly #servers = new Map<number, { server: Server; check: HealthCheck }>();
  readonly #healthy: () => boolean;
  readonly #logger: Logger;

  constructor(healthy: () => boolean, logger: Logger) {
    this.#healthy = healthy;
    this.#logger = logger;
  }
  sync(checks: readonly HealthCheck[]): void {
    const wanted = new Map(checks.map((check) => [check.port, check]));
    for (const [port, { server }] of this.#servers)
      if (!wanted.has(port)) {
        server.close();
        server.closeAllConnections();
        this.#servers.delete(port);
      }
    for (const [port, check] of wanted) {
      const running = this.#servers.get(port);
      if (running) running.check = check;
      else this.#start(port, check);
    }
  }
  close(): void {
    this.sync([]);
  }
  #start(port: number, check: HealthCheck): void {
    const entry = { server: createServer(), check };
    entry.server.on('request', (_request, response) => {
      const { namespace, serviceName: name, localEndpoints } = entry.check;
      const ok = localEndpoints > 0 && this.#healthy();
      const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: this.#healthy() };
      response.writeHead(ok ? 200 : 503, {
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
        'x-load-balancing-endpoint-weight': String(localEndpoints),
      });
      response.end(JSON.stringify(body));
    });
    entry.server.on('error', (error) => {
      this.#logger.error('health check node port cannot be served', { port, error: String(error) });
      this.#servers.delete(port);
    });
    entry.server.listen(port);
    this.#servers.set(port, entry);
  }
}
