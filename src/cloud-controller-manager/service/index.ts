// The service controller: a load balancer of the cloud for every Service that asks for one.
import type { Node, Service } from '#api/core/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import type { LoadBalancer } from '#cloud-provider';
import { type Action, type Cache, type ControllerDefinition, defineController, type Plan, watch } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow, recordEvents, services } from '#controller-runtime/workload';
import type { Clock } from '#utils';
import { cloudView } from '../ask.ts';
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
import { type NodeSync, nodeSync } from './node-sync.ts';
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

function balancerActions(
  { balancer, cluster, metrics, clock }: ServiceControllerOptions,
  sync: NodeSync,
): Record<string, Action> {
  const remove = (input: unknown, signal: AbortSignal): Promise<Outcome<void>> =>
    outcomeOf(balancer.ensureLoadBalancerDeleted(cluster, (input as BalancerInput).service, signal));
  return {
    async ensure(input, signal) {
      const { service, hosts } = input as BalancerInput;
      return afterEnsure({ service, hosts }, await outcomeOf(balancer.ensureLoadBalancer(cluster, service, hosts, signal)));
    },
    nodesSynced(key) {
      sync.done(key as string);
      return Promise.resolve(undefined);
    },
    delete: async (input, signal) => afterDelete(input as BalancerInput, await remove(input, signal)),
    deleteVanished: async (input, signal) => afterDeleteVanished(input as BalancerInput, await remove(input, signal)),
    deletePrevious: async (input, signal) => afterDeletePrevious(input as BalancerInput, await remove(input, signal)),
    async updateHosts(input, signal) {
      const { service, hosts } = input as BalancerInput;
      const sinceMs = clock.monotonic();
      metrics.loadBalancerSynced();
      const outcome = await outcomeOf(balancer.updateLoadBalancer(cluster, service, hosts, signal));
      metrics.hostsUpdated(clock.monotonic() - sinceMs);
      sync.done(keyOf(service.metadata));
      if (!('error' in outcome)) return afterUpdateHosts({ service, hosts }, outcome, true);
      metrics.nodeSyncFailed();
      const found = await outcomeOf(balancer.getLoadBalancer(cluster, service, signal));
      return afterUpdateHosts({ service, hosts }, outcome, 'error' in found || found.value !== undefined);
    },
  };
}

interface SyncedView extends ServiceView {
  /** The key, while a sync of nodes waits for it. */
  awaited: string | undefined;
}

/** A plan that brings nobody other hosts ends the sync for its key; an update does so itself, when the cloud has answered. */
function withSyncEnd({ awaited }: SyncedView, plan: Plan): Plan {
  const updates = plan.effects.some((effect) => effect.op === 'action' && effect.name === 'updateHosts');
  if (awaited === undefined || updates || plan.needsAnswers) return plan;
  return { ...plan, effects: [{ op: 'action', name: 'nodesSynced', input: awaited }, ...plan.effects] };
}

export function serviceController(options: ServiceControllerOptions): ControllerDefinition<SyncedView> {
  const sync = nodeSync(options.clock, (durationMs) => options.metrics.nodesSynced(durationMs));
  return defineController<SyncedView>({
    name: 'service-lb-controller',
    aliases: ['service'],
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
        keys: (node, old, cache) => (old && !hostsChanged(node, old) ? [] : sync.begun(allBalanced(cache))),
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
        awaited: sync.awaits(key) ? key : undefined,
      };
    },
    reconcile: (view) => withSyncEnd(view, reconcileService(view)),
    questions: () => ({
      getLoadBalancer: (service, signal) => options.balancer.getLoadBalancer(options.cluster, service as Service, signal),
    }),
    actions: () => balancerActions(options, sync),
    backoff: { baseMs: serviceBackoffBaseMs, maxMs: serviceBackoffMaxMs },
    concurrency: options.concurrency,
  });
}
