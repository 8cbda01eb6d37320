// Request metrics by upstream's names (k8s.io/apiserver/pkg/endpoints/metrics).
import type { Metrics } from '#component-base';
import type { RequestData } from '../request/request.ts';

const latencyBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** One request that is over. `status` 0: the connection was taken over or cut off. */
export interface ObservedRequest {
  request: RequestData;
  status: number;
  seconds: number;
}

export function requestMetrics(metrics: Metrics): (request: ObservedRequest) => void {
  const labels = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
  const total = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    labels: [...labels, 'code'],
  });
  const durations = metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    labels,
    buckets: latencyBuckets,
  });
  return ({ request, status, seconds }) => {
    const { target, options, verb } = request;
    const { group = '', version = '', resource = '', subresource = '' } = target ?? {};
    const dryRun = options.dryRun?.join(',') ?? '';
    const values = [verbOf(request), dryRun, group, version, resource, subresource, scopeOf(request), 'apiserver'];
    // A connection taken over counts as done.
    total.inc(1, ...values, status === 0 ? 200 : status);
    if (verb !== 'watch') durations.observe(seconds, ...values);
  };
}

const verbs: Record<string, string> = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
};

const verbOf = ({ target, verb, method }: RequestData): string => (target ? (verbs[verb] ?? 'other') : method);

function scopeOf({ target, verb }: RequestData): string {
  if (!target) return '';
  if (target.name !== '' || verb === 'create') return 'resource';
  return target.namespace === '' ? 'cluster' : 'namespace';
}
