// Request metrics by upstream's names (k8s.io/apiserver/pkg/endpoints/metrics).
import type { Metrics } from '#component-base';
import type { RequestInfo } from './endpoints/request-info.ts';

const latencyBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

export function requestMetrics(metrics: Metrics): (info: RequestInfo, method: string, seconds: number) => void {
  const labels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
  const total = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    labels,
  });
  const durations = metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    labels,
    buckets: latencyBuckets,
  });
  return (info, method, seconds) => {
    const values = [
      verbOf(info, method),
      info.group,
      info.version,
      info.isResource ? info.resource : '',
      info.subresource,
      scopeOf(info),
      'apiserver',
    ];
    total.inc(1, ...values);
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
