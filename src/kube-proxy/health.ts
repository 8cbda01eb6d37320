// What others ask of a proxy: `/healthz` for load balancers of any node, and one port per Service with externalTrafficPolicy Local that
// says how many of its endpoints are here (https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/).
import type { Clock, Logger } from '#utils';
import { serve, type WireRequest, type WireResponse, type WireServer } from '#wire';
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

const json = Object.freeze({ 'content-type': 'application/json' });

/** Answers `/healthz`, `/livez` and `/metrics`. Rejects when it cannot listen. */
export function serveHealthz({
  health,
  clock,
  host,
  port,
  metrics,
  logger,
}: {
  health: ProxyHealth;
  clock: Clock;
  host: string;
  port: number;
  metrics?: () => Promise<string>;
  logger: Logger;
}): Promise<WireServer> {
  const onRequest = async (request: WireRequest, response: WireResponse): Promise<void> => {
    const path = request.path.split('?')[0];
    if (path === '/metrics' && metrics)
      return response.send(200, { 'content-type': 'text/plain; version=0.0.4' }, await metrics());
    if (path !== '/healthz' && path !== '/livez') return response.send(404, {}, '');
    const healthy = isHealthy(health, clock.monotonic());
    // Only /healthz is about traffic: a node that is going away is alive, but wants no new connections.
    const ok = healthy && (path === '/livez' || health.nodeEligible());
    const time = new Date(clock.now()).toISOString();
    const body = { lastUpdated: time, currentTime: time, ...(path === '/healthz' && { nodeEligible: health.nodeEligible() }) };
    response.send(ok ? 200 : 503, json, JSON.stringify(body));
  };
  return serve({ listen: { host, port }, onRequest, logger });
}

interface HealthCheckServer {
  check: HealthCheck;
  /** Resolves with undefined where the port cannot be had. */
  server: Promise<WireServer | undefined>;
}

/** One small server per health check node port. */
export class HealthCheckServers {
  readonly #servers = new Map<number, HealthCheckServer>();
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
        void server.then((running) => running?.close({ graceMs: 0 }));
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
    const onRequest = (_request: WireRequest, response: WireResponse): void => {
      const { namespace, serviceName: name, localEndpoints } = entry.check;
      const ok = localEndpoints > 0 && this.#healthy();
      const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: this.#healthy() };
      const headers = {
        ...json,
        'x-content-type-options': 'nosniff',
        'x-load-balancing-endpoint-weight': String(localEndpoints),
      };
      response.send(ok ? 200 : 503, headers, JSON.stringify(body));
    };
    const listen = (host: string): Promise<WireServer> => serve({ listen: { host, port }, onRequest, logger: this.#logger });
    const server = listen('::')
      // A machine without IPv6.
      .catch((error: NodeJS.ErrnoException) => (error.code === 'EAFNOSUPPORT' ? listen('0.0.0.0') : Promise.reject(error)))
      .catch((error: unknown) => {
        this.#logger.error('health check node port cannot be served', { port, error: String(error) });
        // Tried again at the next change.
        if (this.#servers.get(port) === entry) this.#servers.delete(port);
        return undefined;
      });
    const entry: HealthCheckServer = { check, server };
    this.#servers.set(port, entry);
  }
}
