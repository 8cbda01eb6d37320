// What digitalocean-cloud-controller-manager counts of its public access firewall, by the same names: each call of the API, each check against
// changes from outside, and each run.
import type { ProviderMetrics } from 'sagong/cloud-provider';
import type { CallObserver } from 'sagong/cloud-provider/kit';

export interface FirewallMetrics extends CallObserver {
  /** The firewall was asked for, because it may have been changed outside the cluster. */
  synced(result: 'updated' | 'failed' | 'canceled', durationMs: number): void;
  reconciled(result: 'reconciled' | 'skipped' | 'failed', durationMs: number): void;
}

/** Upstream's name of an operation, and the status of its answer where it succeeds. */
const operations: Readonly<Record<string, readonly [operation: string, status: string]>> = {
  'Firewalls.Get': ['get_by_id', '200'],
  'Firewalls.List': ['get_by_list', '200'],
  'Firewalls.Create': ['create', '202'],
  'Firewalls.Update': ['update', '200'],
};

/** Upper bounds in seconds: 1, then 20 more, each wider by `width`. */
const buckets = (width: number): number[] => Array.from({ length: 21 }, (_, index) => 1 + index * width);
const callBuckets = buckets(4.5);
const runBuckets = buckets(15);

/** A histogram and a counter of the same thing with the same labels. */
function timed(
  metrics: ProviderMetrics,
  names: [duration: string, total: string],
  what: string,
  labels: string[],
  bounds: number[],
) {
  const durations = metrics.histogram({
    name: `firewall_${names[0]}_duration_seconds`,
    help: `Histogram for tracking the duration of ${what}.`,
    labels,
    buckets: bounds,
  });
  const total = metrics.counter({ name: `firewall_${names[1]}_total`, help: `The total number of ${what} executed.`, labels });
  return (durationMs: number, ...values: string[]): void => {
    durations.observe(durationMs / 1000, ...values);
    total.inc(1, ...values);
  };
}

export function firewallMetrics(metrics: ProviderMetrics): FirewallMetrics {
  const callLabels = ['operation', 'result', 'http_response_code'];
  const call = timed(metrics, ['api_operation', 'api_operations'], 'firewall API operations', callLabels, callBuckets);
  const syncs = 'remote firewall resource synchronizations';
  const sync = timed(metrics, ['resource_sync', 'resource_syncs'], syncs, ['result'], runBuckets);
  const reconcile = timed(metrics, ['reconcile', 'reconciles'], 'firewall reconciles', ['result', 'error_type'], runBuckets);
  return {
    ended(name, durationMs, failure) {
      const [operation, status] = operations[name] ?? [];
      if (operation === undefined || status === undefined) return;
      if (failure) call(durationMs, operation, 'failed', failure.status === undefined ? '' : String(failure.status));
      else call(durationMs, operation, 'succeeded', status);
    },
    synced: (result, durationMs) => sync(durationMs, result),
    reconciled: (result, durationMs) => reconcile(durationMs, result, result === 'failed' ? 'generic' : ''),
  };
}
