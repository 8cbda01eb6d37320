// Reloads of configuration files by upstream's names (k8s.io/apiserver/pkg/server/options/{authentication,authorization}config/metrics).
import type { Metrics } from '#component-base';

export function reloadCounter(
  metrics: Metrics,
  what: 'authentication' | 'authorization',
  now: () => number,
): (succeeded: boolean) => void {
  const labels = ['status', 'apiserver_id_hash'];
  const total = metrics.counter({
    name: `apiserver_${what}_config_controller_automatic_reloads_total`,
    help: `Total number of automatic reloads of ${what} configuration split by status and apiserver identity.`,
    labels,
  });
  const last = metrics.gauge({
    name: `apiserver_${what}_config_controller_automatic_reload_last_timestamp_seconds`,
    help: `Timestamp of the last automatic reload of ${what} configuration split by status and apiserver identity.`,
    labels,
  });
  return (succeeded) => {
    const status = succeeded ? 'success' : 'failure';
    total.inc(1, status, '');
    last.set(now() / 1000, status, '');
  };
}
