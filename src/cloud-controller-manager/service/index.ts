// The service controller: a load balancer of the cloud for every Service that asks for one.
import type { Node, Service } from '#api/core/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import type { LoadBalancer } from '#cloud-provider';
import { type Action, type Cache, type ControllerDefinition, defineController, type Named, watch } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow, recordEvents, services } from '#controller-runtime/workload';
import type { Clock } from '#utils';
import { cloudView, getLoadBalancer } from '../ask.ts';
import { serviceBackoffBaseMs, serviceBackoffMaxMs } from '../limits.ts';
import type { CloudMetrics } from '../metrics.ts';
import {
  afterDelete,
  afterDeletePrevious,
  afterDeleteVanished,
  afterEnsure,
  afterUpdateHosts,
  type Outcome,
} from './outcomes.ts';
import { deleteBalancer, deletePrevious, deleteVanished, ensureBalancer, updateHosts } from './actions.ts';
import { type BalancerInput, reconcileService, type ServiceMemory, type ServiceView } from './reconcile.ts';
import { hostsChanged, isHost, needsCleanup, needsUpdate, wantsLoadBalancer } from './select.ts';

export interface ServiceControllerOptions {
  balancer: LoadBalancer;
  cluster: string;
  /** `--concurrent-service-syncs`. */
  concurrency: number;
  metrics: CloudMetrics;
  clock: Clock;
}

const outcomeOf = <T>(call: Promise<T>): Promise<Outcome<T>> =>
  call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

const allBalanced = (cache: Cache): string[] =>
  cache
    .list<Service>(services)
    .filter(wantsLoadBalancer)
    .map(({ metadata }) => keyOf(metadata));

function balancerActions({ balancer, cluster, metrics, clock }: ServiceControllerOptions): Named<Action>[] {
  const remove = ({ service }: BalancerInput, signal: AbortSignal): Promise<Outcome<void>> =>
    outcomeOf(balancer.ensureLoadBalancerDeleted(cluster, service, signal));
  return [
    ensureBalancer.by(async (input, signal) =>
      afterEnsure(input, await outcomeOf(balancer.ensureLoadBalancer(cluster, input.service, input.hosts, signal))),
    ),
    deleteBalancer.by(async (input, signal) => afterDelete(input, await remove(input, signal))),
    deleteVanished.by(async (input, signal) => afterDeleteVanished(input, await remove(input, signal))),
    deletePrevious.by(async (input, signal) => afterDeletePrevious(input, await remove(input, signal))),
    updateHosts.by(async ({ service, hosts }, signal) => {
      const sinceMs = clock.monotonic();
      metrics.loadBalancerSynced();
      const outcome = await outcomeOf(balancer.updateLoadBalancer(cluster, service, hosts, signal));
      metrics.hostsUpdated(clock.monotonic() - sinceMs);
      if (!('error' in outcome)) return afterUpdateHosts({ service, hosts }, outcome, true);
      metrics.nodeSyncFailed();
      const found = await outcomeOf(balancer.getLoadBalancer(cluster, service, signal));
      return afterUpdateHosts({ service, hosts }, outcome, 'error' in found || found.value !== undefined);
    }),
  ];
}

export function serviceController(options: ServiceControllerOptions): ControllerDefinition {
  return defineController<ServiceView>({
    name: 'service-lb-controller',
    aliases: ['service'],
    for: services,
    serviceAccount: 'service-controller',
    eventSource: 'service-controller',
    rights: [
      allow('get,list,watch', 'core', 'services'),
      allow('patch,update', 'core', 'services/status'),
      allow('list,watch', 'core', 'nodes'),
      recordEvents,
    ],
    watches: [
      watch<Service>({
        resource: services,
        keys: (service, old) =>
          needsCleanup(service) || (old ? needsUpdate(old, service) : wantsLoadBalancer(service))
            ? [keyOf(service.metadata)]
            : [],
      }),
      watch<Node>({
        resource: nodes,
        keys: (node, old, cache) => (old && !hostsChanged(node, old) ? undefined : allBalanced(cache)),
        // Upstream's service_controller_nodesync_latency_seconds: one observation for each sync of all Services.
        burstMs: (durationMs) => options.metrics.nodesSynced(durationMs),
      }),
    ],
    view(key, cache, context) {
      const { namespace, name } = splitKey(key);
      return {
        ...cloudView(context),
        service: cache.get<Service>(services, namespace, name),
        hosts: cache.list<Node>(nodes).filter(isHost),
        memory: context.memory as ServiceMemory | undefined,
        lastFailure: context.lastFailure,
      };
    },
    reconcile: (view) => reconcileService(view),
    questions: () => [
      getLoadBalancer.by((service, signal) => options.balancer.getLoadBalancer(options.cluster, service, signal)),
    ],
    actions: () => balancerActions(options),
    backoff: { baseMs: serviceBackoffBaseMs, maxMs: serviceBackoffMaxMs },
    concurrency: options.concurrency,
  });
}
