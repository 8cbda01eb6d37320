// What kube-proxy measures, by upstream's names (pkg/proxy/metrics), and the endpoint that shows it (`--metrics-bind-address`).
import { buildInfo, createMetrics, exponentialBuckets, type FlagTexts, type Metrics, routeZpage } from '#component-base';
import type { Clock, Logger } from '#utils';
import { serve, type WireRequest, type WireResponse, type WireServer } from '#wire';
import type { ProxyMode } from './dataplane.ts';

export interface ProxyMetrics {
  readonly all: Metrics;
  queued(nowMs: number): void;
  synced(kind: 'full' | 'partial', nowMs: number, seconds: number): void;
  failed(kind: 'full' | 'partial'): void;
}

const buckets = exponentialBuckets(0.001, 2, 15);
const name = (rest: string): string => `kubeproxy_${rest}`;

export function proxyMetrics(mode: ProxyMode): ProxyMetrics {
  const all = createMetrics();
  buildInfo(all);
  const duration = (kind: string, help: string) =>
    all.histogram({ name: name(`sync_${kind}proxy_rules_duration_seconds`), help, buckets });
  const [any, full, partial] = [
    duration('', 'SyncProxyRules latency in seconds'),
    duration('full_', 'SyncProxyRules latency in seconds for full resyncs'),
    duration('partial_', 'SyncProxyRules latency in seconds for partial resyncs'),
  ];
  const last = all.gauge({
    name: name('sync_proxy_rules_last_timestamp_seconds'),
    help: 'The last time proxy rules were successfully synced',
  });
  const queued = all.gauge({
    name: name('sync_proxy_rules_last_queued_timestamp_seconds'),
    help: 'The last time a sync of proxy rules was queued',
  });
  const counter = (rest: string, help: string) => all.counter({ name: name(`sync_proxy_rules_${rest}_total`), help });
  const failures =
    mode === 'nftables'
      ? counter('nftables_sync_failures', 'Cumulative proxy nftables sync failures')
      : counter('iptables_restore_failures', 'Cumulative proxy iptables restore failures');
  const partialFailures =
    mode === 'iptables' && counter('iptables_partial_restore_failures', 'Cumulative proxy iptables partial restore failures');
  return {
    all,
    queued: (nowMs) => queued.set(nowMs / 1000),
    synced(kind, nowMs, seconds) {
      any.observe(seconds);
      (kind === 'full' ? full : partial).observe(seconds);
      last.set(nowMs / 1000);
    },
    failed(kind) {
      failures.inc();
      if (kind === 'partial' && partialFailures) partialFailures.inc();
    },
  };
}

const text = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

export interface MetricsEndpoint {
  host: string;
  port: number;
  metrics: Metrics;
  mode: string;
  /** What /configz says. */
  configuration: object;
  /** What /flagz says; undefined: there is no /flagz. */
  flags: FlagTexts | undefined;
  clock: Clock;
  logger: Logger;
}

const ownPaths = ['/configz', '/flagz', '/healthz', '/metrics', '/proxyMode'];

/** Answers `/metrics`, `/proxyMode`, `/configz`, `/healthz`, `/flagz` and `/statusz`. Rejects when it cannot listen. */
export function serveMetrics(endpoint: MetricsEndpoint): Promise<WireServer> {
  const { host, port, metrics, mode, configuration, flags, clock, logger } = endpoint;
  const zpages = { component: 'kube-proxy', clock, flags: flags && (() => flags), paths: ownPaths };
  const onRequest = async (request: WireRequest, response: WireResponse): Promise<void> => {
    switch (request.path.split('?')[0]) {
      case '/metrics':
        return response.send(200, { 'content-type': metrics.contentType }, await metrics.expose());
      case '/proxyMode':
        return response.send(200, text, mode);
      case '/healthz':
        return response.send(200, text, 'ok');
      case '/configz':
        return response.send(
          200,
          { 'content-type': 'application/json' },
          JSON.stringify({ 'kubeproxy.config.k8s.io': configuration }),
        );
      default: {
        const { accept = '', 'user-agent': userAgent = '' } = request.headers;
        const page = await routeZpage({ target: request.path, accept, userAgent }, zpages);
        if (page) return response.send(page.status, { 'content-type': page.type, ...page.headers }, page.body);
        return response.send(404, text, '404 page not found\n');
      }
    }
  };
  return serve({ listen: { host, port }, onRequest, logger });
}
