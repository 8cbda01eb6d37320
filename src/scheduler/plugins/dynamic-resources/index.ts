// Pods with resource claims (KEP-4381, upstream plugins/dynamicresources): they wait until their claims exist, go where their claims have devices or
// can get some, and are entered as users of what they get.
import type { Pod } from '#api/core/v1';
import type { AllocationResult, ResourceClaim } from '#api/resource/v1';
import { nodeSelectorMatches } from '#component-helpers/pod';
import {
  type Cycle,
  defaultNormalize,
  failed,
  interest,
  type NodeInfo,
  type Plugin,
  type PostFilterAnswer,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';
import { awaitReadiness, deallocate, hasTimedOut, isFreeFor, isReady, reserve } from './binding.ts';
import { claimsOf, helpsPod, isList, name, problemOf } from './claims.ts';
import { alternativesMax } from './limits.ts';
import { AllocationError, type Allocator, allocatorFor, inUseOf, TooManyTries } from './structured/index.ts';

/** What one cycle knows about the claims of its pod. */
interface State {
  readonly claims: readonly ResourceClaim[];
  /** Those without devices. */
  readonly unallocated: readonly ResourceClaim[];
  readonly allocator: Allocator;
  /** What those would get, by node. */
  readonly allocations: Map<string, readonly AllocationResult[]>;
  /** Claims with devices that some node cannot use. */
  readonly unavailable: Set<ResourceClaim>;
}

const notAllocated = unresolvable(name, 'cannot allocate all claims');
const elsewhere = unresolvable(name, 'resourceclaim not available on the node');

function stateOf(claims: readonly ResourceClaim[], { view, rng }: Cycle): State {
  const unallocated = claims.filter(({ status }) => status?.allocation === undefined);
  const needsDevices = unallocated.length > 0;
  const allocator = allocatorFor(unallocated, {
    slices: needsDevices ? view.list('ResourceSlice') : [],
    inUse: inUseOf(needsDevices ? view.list('ResourceClaim') : []),
    classes: (className) => view.get('DeviceClass', '', className),
    rng,
  });
  return { claims, unallocated, allocator, allocations: new Map(), unavailable: new Set() };
}

/** Whether the devices that a claim has are of use on the node. */
function isAvailable(claim: ResourceClaim, { node }: NodeInfo, nowMs: number): boolean {
  const { allocation } = claim.status ?? {};
  if (allocation === undefined) return true;
  if (allocation.nodeSelector !== undefined && !nodeSelectorMatches(allocation.nodeSelector, node)) return false;
  const ready = isReady(claim);
  return typeof ready !== 'string' && (ready || !hasTimedOut(claim, nowMs));
}

/** Looks for devices for the claims without any; why there are none, or undefined. */
function allocate(state: State, { node }: NodeInfo): Status | undefined {
  if (state.unallocated.length === 0) return undefined;
  try {
    const allocations = state.allocator.allocate(node);
    if (allocations === undefined) return notAllocated;
    state.allocations.set(node.metadata.name ?? '', allocations);
    return undefined;
  } catch (error) {
    if (error instanceof AllocationError) return failed(name, error.message);
    if (error instanceof TooManyTries) return failed(name, `node ${node.metadata.name}: timed out trying to allocate devices`);
    throw error;
  }
}

/** How far up in their lists the alternatives are that the claims got. */
function preference({ claims, unallocated, allocations }: State, { node }: NodeInfo): number {
  const made = allocations.get(node.metadata.name ?? '');
  let score = 0;
  for (const claim of claims) {
    const allocation = claim.status?.allocation ?? made?.[unallocated.indexOf(claim)];
    const chosen = new Set((allocation?.devices?.results ?? []).map(({ request }) => request));
    for (const { name: request, firstAvailable = [] } of claim.spec.devices?.requests ?? [])
      firstAvailable.forEach((one, index) => {
        if (chosen.has(`${request}/${one.name}`)) score += alternativesMax - index;
      });
  }
  return score;
}

const hasAlternatives = ({ claims }: State): boolean =>
  claims.some(({ spec }) => (spec.devices?.requests ?? []).some(({ firstAvailable }) => firstAvailable !== undefined));

/** Devices that are of no use where the pod could go are given back, if nobody else uses them. */
function giveBack(state: State | undefined, { pod }: Cycle): PostFilterAnswer {
  if (state === undefined) return { status: unschedulable(name, 'no new claims to deallocate') };
  const free = [...state.unavailable].find((claim) => isFreeFor(claim, pod));
  if (free === undefined) return { status: unschedulable(name, 'still not schedulable') };
  return { status: unschedulable(name, 'deallocation of ResourceClaim completed'), effects: [deallocate(free)] };
}

export const dynamicResources = (): Plugin<State, State> => {
  const plugin: Plugin<State, State> = {
    name,
    events: [
      interest<ResourceClaim>('ResourceClaim', ['Add', 'Update', 'Delete'], (pod, { old, now }) => helpsPod(pod, old, now)),
      interest<Pod>('Pod', ['UpdatePodGeneratedResourceClaim'], (pod, { now }) => now?.metadata.uid === pod.uid),
      interest('DeviceClass', ['Add', 'Update']),
      interest('ResourceSlice', ['Add', 'Update']),
      interest('Node', ['Add', 'UpdateNodeLabel', 'UpdateNodeAllocatable']),
    ],
    preEnqueue(pod, view) {
      const found = claimsOf(pod, view);
      return isList(found) ? undefined : found;
    },
    preFilter(cycle) {
      const { pod, view } = cycle;
      const found = claimsOf(pod, view);
      if (!isList(found)) return { status: found };
      if (found.length === 0) return { skip: true };
      const status = found.map((claim) => problemOf(claim, pod, view)).find((problem) => problem !== undefined);
      return status === undefined ? { state: stateOf(found, cycle) } : { status };
    },
    filter(state, node, { nowMs }) {
      const unavailable = state.claims.filter((claim) => !isAvailable(claim, node, nowMs));
      for (const claim of unavailable) state.unavailable.add(claim);
      return unavailable.length > 0 ? elsewhere : allocate(state, node);
    },
    // A plugin before it may have refused the pod; then this one knows nothing of its claims.
    postFilter: (cycle, tools) =>
      tools.preFiltered(name) ? giveBack(tools.stateOf(plugin), cycle) : { status: failed(name, 'not found') },
    quiet: ({ pod }) => (pod.pod.spec?.resourceClaims?.length ?? 0) === 0,
    preScore: (_cycle, _feasible, state) => (state && hasAlternatives(state) ? { state } : { skip: true }),
    score: preference,
    normalize: (_state, scores) => defaultNormalize(scores, false),
    preBind(state, { node }, { pod, nowMs }) {
      const made = state?.allocations.get(node.metadata.name ?? '');
      const writes = (state?.claims ?? []).map((claim) =>
        reserve(claim, claim.status?.allocation ? undefined : made?.[state.unallocated.indexOf(claim)], pod, nowMs),
      );
      const written = writes.flatMap((own) => own.at(-1)?.object ?? []) as ResourceClaim[];
      return [...writes.flat(), ...awaitReadiness(written)];
    },
  };
  return plugin;
};
