// Metrics of the cloud loops with upstream's names (k8s.io/cloud-provider controllers/*/metrics.go, controller-manager's controllers.go).
import { exponentialBuckets, type Metrics } from '#component-base';

export interface CloudMetrics {
  /** A Node was initialised this long after it was made. */
  initialized(sinceCreationMs: number): void;
  routeSynced(): void;
  loadBalancerSynced(): void;
  hostsUpdated(durationMs: number): void;
  /** A change of nodes has reached all load balancers. */
  nodesSynced(durationMs: number): void;
  nodeSyncFailed(): void;
}

export function cloudMetrics(metrics: Metrics): CloudMetrics {
  const nodeBuckets = exponentialBuckets(1, 4, 6);
  const serviceBuckets = exponentialBuckets(1, 2, 15);
  const taintRemoval = metrics.histogram({
    name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
    help: 'Seconds from the making of a node until the cloud provider taint was taken away.',
    buckets: nodeBuckets,
  });
  const initialSync = metrics.histogram({
    name: 'node_controller_initial_node_sync_delay_seconds',
    help: 'Seconds from the making of a node until it was initialized.',
    buckets: nodeBuckets,
  });
  const routes = metrics.counter({ name: 'route_controller_route_sync_total', help: 'Syncs of routes.' });
  const balancers = metrics.counter({
    name: 'service_controller_loadbalancer_sync_total',
    help: 'Updates of the hosts of load balancers.',
  });
  const nodeErrors = metrics.counter({
    name: 'service_controller_nodesync_error_total',
    help: 'Failed updates of the hosts of load balancers.',
  });
  const nodeSync = metrics.histogram({
    name: 'service_controller_nodesync_latency_seconds',
    help: 'Time of bringing changed nodes to all load balancers.',
    buckets: serviceBuckets,
  });
  const hosts = metrics.histogram({
    name: 'service_controller_update_loadbalancer_host_latency_seconds',
    help: 'Time of the calls that update hosts.',
    buckets: serviceBuckets,
  });
  return {
    initialized(sinceCreationMs) {
      if (!Number.isFinite(sinceCreationMs)) return;
      taintRemoval.observe(sinceCreationMs / 1000);
      initialSync.observe(sinceCreationMs / 1000);
    },
    routeSynced: () => routes.inc(),
    loadBalancerSynced: () => balancers.inc(),
    hostsUpdated: (durationMs) => hosts.observe(durationMs / 1000),
    nodesSynced: (durationMs) => nodeSync.observe(durationMs / 1000),
    nodeSyncFailed: () => nodeErrors.inc(),
  };
}
