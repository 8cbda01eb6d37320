// Request metrics by upstream's names (k8s.io/apiserver/pkg/endpoints/metrics).
import type { Metrics } from '#component-base';
import type { RequestInfo } from './endpoints/request-info.ts';

const latencyBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** One request that is over. `status` 0: the connection was taken over or cut off. */
export interface ObservedRequest {
  info: RequestInfo;
  method: string;
  dryRun: string;
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
  return ({ info, method, dryRun, status, seconds }) => {
    const values = [
      verbOf(info, method),
      dryRun,
      info.group,
      info.version,
      info.isResource ? info.resource : '',
      info.subresource,
      scopeOf(info),
      'apiserver',
    ];
    // A connection taken over counts as done.
    total.inc(1, ...values, status === 0 ? 200 : status);
    if (info.verb !== 'watch') durations.observe(seconds, ...values);
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

const verbOf = (info: RequestInfo, method: string): string => (info.isResource ? (verbs[info.verb] ?? 'other') : method);

function scopeOf(info: RequestInfo): string {
  if (!info.isResource) return '';
  if (info.name !== '' || info.verb === 'create') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}
