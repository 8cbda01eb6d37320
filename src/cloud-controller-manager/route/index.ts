// The route controller: the cloud's network knows the way to the pods of each Node.
import type { Node } from '#api/core/v1';
import { type IPPrefix, parseCIDR } from '#apimachinery/validation';
import type { Routes } from '#cloud-provider';
import { action, type ControllerDefinition, defineController, type Plan, watch, wholeCluster } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import type { Rng } from '#utils';
import { type CloudView, cloudView, listRoutes } from '../ask.ts';
import type { CloudMetrics } from '../metrics.ts';
import { applyRoutes } from './apply.ts';
import { changesOf, outcomePlan, type RouteChanges, routesDiffer } from './plan.ts';

const key = 'routes';

export interface RouteControllerOptions {
  routes: Routes;
  cluster: string;
  clusterCidrs: readonly IPPrefix[];
  /** `--route-reconciliation-period`. */
  routeReconciliationPeriodMs: number;
  /** CloudControllerManagerWatchBasedRoutesReconciliation: look when Nodes change, and seldom otherwise. */
  watchBased: boolean;
  /** How often to look without a change when `watchBased`. */
  resyncPeriodMs: number;
  metrics: CloudMetrics;
  rng: Rng;
}

export interface RouteMemory {
  /** When routes were last to be made or removed, or could not be listed: the next look comes a period later. */
  busyAtMs: number;
}
export interface RouteView extends CloudView {
  nodes: readonly Node[];
  memory: RouteMemory | undefined;
}

/** One CIDR, or one of each family. Throws with what is wrong. */
export function parseClusterCidrs(texts: readonly string[]): IPPrefix[] {
  const cidrs = texts.map((text) => {
    const prefix = parseCIDR(text);
    if (!prefix) throw new Error(`failed to parse cidr value:"${text}"`);
    return prefix;
  });
  if (cidrs.length > 2) throw new Error(`length of clusterCIDRs is:${cidrs.length} more than max allowed of 2`);
  if (cidrs.length === 2 && cidrs[0]?.network.family === cidrs[1]?.network.family)
    throw new Error('len of clusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily)');
  return cidrs;
}

export function reconcileRoutes(options: RouteControllerOptions, view: RouteView, now: number): Plan {
  const { watchBased, routeReconciliationPeriodMs: periodMs } = options;
  const waitMs = watchBased && view.memory ? view.memory.busyAtMs + periodMs - now : 0;
  if (waitMs > 0) return { effects: [], requeueAfterMs: waitMs, remember: view.memory };
  const question = listRoutes.about(key, options.cluster);
  const answer = listRoutes.answer(view, question);
  if (!answer) return { effects: [], needsAnswers: [question], remember: view.memory };
  const remember: RouteMemory = { busyAtMs: now };
  if ('error' in answer) return { effects: [], failure: `error listing routes: ${answer.error.message}`, remember };
  const changes = changesOf(options.clusterCidrs, view.nodes, answer.value);
  return {
    effects: [apply.on(changes)],
    // Who found nothing to do, as the first look at a cluster without nodes, keeps no node waiting.
    remember: changes.make.length + changes.remove.length > 0 ? remember : view.memory,
    because: `${changes.make.length} routes are to be made, ${changes.remove.length} to be removed.`,
  };
}

const apply = action<RouteChanges>('applyRoutes');

export const routeController = (options: RouteControllerOptions): ControllerDefinition =>
  defineController<RouteView>({
    name: 'node-route-controller',
    aliases: ['route'],
    for: wholeCluster,
    serviceAccount: 'route-controller',
    eventSource: 'route_controller',
    rights: [allow('get,list,watch', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), recordEvents],
    watches: [
      watch<Node>({
        resource: nodes,
        ...(options.watchBased && { keys: (node: Node, old?: Node) => (old && !routesDiffer(node, old) ? [] : [key]) }),
      }),
    ],
    periodic: {
      everyMs: options.watchBased ? options.resyncPeriodMs : options.routeReconciliationPeriodMs,
      keys: () => [key],
    },
    view: (_key, cache, context) => ({
      ...cloudView(context),
      nodes: cache.list<Node>(nodes),
      memory: context.memory as RouteMemory | undefined,
    }),
    reconcile: (view, now) => reconcileRoutes(options, view, now),
    questions: () => [listRoutes.by((cluster, signal) => options.routes.listRoutes(cluster, signal))],
    actions: ({ clock, logger }) => [
      apply.by(async (changes, signal) => {
        options.metrics.routeSynced();
        const { routes, cluster, rng } = options;
        const outcomes = await applyRoutes(changes, { routes, cluster, clock, rng, logger, signal });
        const plan = outcomePlan(changes, outcomes, clock.now());
        const again = options.watchBased && outcomes.some(({ made }) => !made);
        return again ? { ...plan, requeueAfterMs: options.routeReconciliationPeriodMs } : plan;
      }),
    ],
    backoff: { baseMs: options.routeReconciliationPeriodMs, maxMs: options.routeReconciliationPeriodMs },
    concurrency: 1,
  });
