// The list of cloud loops that a provider supports, and which of them run (`--controllers`).
import type { IPPrefix } from '#apimachinery/validation';
import type { CloudProvider } from '#cloud-provider';
import type { Clock, Rng } from '#utils';
import type { CloudControllerEntry } from './controller-entry.ts';
import { instanceSourceOf } from './instance-source.ts';
import { cloudNodeLifecycleController } from './lifecycle/index.ts';
import type { CloudMetrics } from './metrics.ts';
import { cloudNodeController } from './node/index.ts';
import { providerControllers } from './provider-controllers.ts';
import { routeController } from './route/index.ts';
import { serviceController } from './service/index.ts';

export interface CloudControllersConfig {
  clusterName: string;
  clusterCidrs: readonly IPPrefix[];
  configureCloudRoutes: boolean;
  routeReconciliationPeriodMs: number;
  /** Feature gate CloudControllerManagerWatchBasedRoutesReconciliation. */
  watchBasedRoutes: boolean;
  minResyncPeriodMs: number;
  nodeMonitorPeriodMs: number;
  nodeStatusUpdateFrequencyMs: number;
  concurrentNodeSyncs: number;
  /** 0: as many as `concurrentNodeSyncs`. */
  concurrentNodeStatusUpdates: number;
  concurrentServiceSyncs: number;
}

/** The names of loops that `--controllers` knows. */
export const cloudControllerNames = [
  'cloud-node-controller',
  'cloud-node-lifecycle-controller',
  'service-lb-controller',
  'node-route-controller',
] as const;

/** All loops in upstream's order, those of the provider last. */
export function cloudControllers(
  cloud: CloudProvider,
  provider: string,
  config: CloudControllersConfig,
  metrics: CloudMetrics,
  { clock, rng }: { clock: Clock; rng: Rng },
): CloudControllerEntry[] {
  const instances = instanceSourceOf(cloud, provider);
  const noInstances = { notStarted: 'cloud provider does not support instances' };
  const concurrency = Math.max(config.concurrentNodeSyncs, config.concurrentNodeStatusUpdates);
  const own: CloudControllerEntry[] = [
    {
      name: 'cloud-node-controller',
      aliases: ['cloud-node'],
      metric: 'cloud-node',
      make: () => (instances ? cloudNodeController({ ...config, instances, metrics, concurrency }) : noInstances),
    },
    {
      name: 'cloud-node-lifecycle-controller',
      aliases: ['cloud-node-lifecycle'],
      metric: 'cloud-node-lifecycle',
      make: () => (instances ? cloudNodeLifecycleController({ ...config, instances }) : noInstances),
    },
    {
      name: 'service-lb-controller',
      aliases: ['service', 'service-controller'],
      metric: 'service',
      make() {
        const { loadBalancer: balancer } = cloud;
        if (!balancer) return { notStarted: 'the cloud provider does not support external load balancers' };
        const { clusterName: cluster, concurrentServiceSyncs: concurrency } = config;
        return serviceController({ balancer, cluster, concurrency, metrics, clock });
      },
    },
    {
      name: 'node-route-controller',
      aliases: ['route', 'route-controller'],
      metric: 'route',
      make() {
        const { routes } = cloud;
        if (!config.configureCloudRoutes)
          return { notStarted: 'will not configure cloud provider routes, --configure-cloud-routes is false' };
        if (!routes) return { notStarted: 'the cloud provider does not support routes' };
        return routeController({
          ...config,
          routes,
          cluster: config.clusterName,
          watchBased: config.watchBasedRoutes,
          resyncPeriodMs: config.minResyncPeriodMs,
          metrics,
          rng,
        });
      },
    },
  ];
  return [...own, ...providerControllers(cloud, own)];
}
