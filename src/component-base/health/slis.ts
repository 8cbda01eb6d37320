// The registry of /metrics/slis: how each health check goes (k8s.io/component-base/metrics/prometheus/slis).
import { createMetrics, type Metrics, processStart } from '../metrics/index.ts';
import type { HealthCheck, HealthEndpoint } from './health.ts';

/** Serves the health of a component as metrics; `health` is asked at each scrape. */
export function sliMetrics(health: () => Partial<Record<HealthEndpoint, readonly HealthCheck[]>>): Metrics {
  const slis = createMetrics();
  const total = slis.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'type', 'status'],
  });
  slis.gauge({
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
    async collect(gauge) {
      for (const [type, checks] of Object.entries(health()))
        for (const { name, check } of checks) {
          const ok = await Promise.resolve()
            .then(check)
            .then(
              () => true,
              () => false,
            );
          gauge.set(ok ? 1 : 0, name, type);
          total.inc(1, name, type, ok ? 'success' : 'error');
        }
    },
  });
  processStart(slis);
  return slis;
}
