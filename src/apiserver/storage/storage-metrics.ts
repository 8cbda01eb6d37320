// What is stored, asked of the store and told by it, by upstream's names (k8s.io/apiserver/pkg/storage/etcd3/metrics, pkg/storage/cacher/metrics).
import type { Metrics } from '#component-base';
import type { ResourceCache } from './resource-cache.ts';

const latencyBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
/** Upstream shows so many digits of a revision, as more are no number for Prometheus. */
const revisionMax = 1e15;

/** One resource's share of the metrics. */
export interface MeasuredStorage {
  requested(operation: string, seconds: number): void;
  /** The resource is no longer served: its series go. */
  end(): void;
}

const nameOf = (group: string, resource: string): string => (group === '' ? resource : `${resource}.${group}`);

type Known = ReadonlyMap<ResourceCache, [group: string, resource: string]>;

/** What the caches hold, read at each scrape. Gives what forgets a resource. */
function standing(metrics: Metrics, known: Known, revision: () => number): (group: string, resource: string) => void {
  const labels = ['group', 'resource'];
  const objects = metrics.gauge({
    name: 'apiserver_resource_objects',
    help: 'Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels,
    collect(gauge) {
      for (const [cache, values] of known) gauge.set(cache.entries.size, ...values);
    },
  });
  const deprecated = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: '[DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels: ['resource'],
    collect(gauge) {
      for (const [cache, values] of known) gauge.set(cache.entries.size, nameOf(...values));
    },
  });
  const revisions = metrics.gauge({
    name: 'apiserver_watch_cache_resource_version',
    help: 'Current resource version of watch cache broken by resource type. This is truncated to the 15 least significant digits.',
    labels,
    collect(gauge) {
      for (const values of known.values()) gauge.set(revision() % revisionMax, ...values);
    },
  });
  return (group, resource) => {
    for (const family of [objects, revisions]) family.remove(group, resource);
    deprecated.remove(nameOf(group, resource));
  };
}

/** Makes the metrics of the storage. `revision` gives the newest one that all caches have. */
export function storageMetrics(
  metrics: Metrics,
  revision: () => number,
): (group: string, resource: string, cache: ResourceCache) => MeasuredStorage {
  const known = new Map<ResourceCache, [group: string, resource: string]>();
  const labels = ['group', 'resource'];
  const durations = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Etcd request latency in seconds for each operation and object type.',
    ...{ labels: ['operation', ...labels], buckets: latencyBuckets },
  });
  const requests = metrics.counter({
    name: 'etcd_requests_total',
    help: 'Etcd request counts for each operation and object type.',
    labels: ['operation', ...labels],
  });
  const counted = (name: string, help: string) => metrics.counter({ name, help, labels });
  const events = [
    counted('apiserver_storage_events_received_total', 'Number of etcd events received split by kind.'),
    counted('apiserver_watch_cache_events_received_total', 'Counter of events received in watch cache broken by resource type.'),
    counted(
      'apiserver_watch_cache_events_dispatched_total',
      'Counter of events dispatched in watch cache broken by resource type.',
    ),
  ];
  const initializations = counted(
    'apiserver_watch_cache_initializations_total',
    'Counter of watch cache initializations broken by resource type.',
  );
  const forget = standing(metrics, known, revision);
  return (group, resource, cache) => {
    known.set(cache, [group, resource]);
    initializations.inc(1, group, resource);
    const received = events.map((one) => one.labels(group, resource));
    const stop = cache.onChange(() => {
      for (const one of received) one.inc();
    });
    return {
      requested(operation, seconds) {
        durations.observe(seconds, operation, group, resource);
        requests.inc(1, operation, group, resource);
      },
      end() {
        stop();
        known.delete(cache);
        for (const family of [...events, initializations]) family.remove(group, resource);
        forget(group, resource);
      },
    };
  };
}
