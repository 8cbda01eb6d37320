// One pass over the ordinals: make what is missing, take what is too much, then update (pkg/controller/statefulset updateStatefulSet).
import type { StatefulSet, StatefulSetSpec } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { isPodAvailable, isPodReady } from '#component-helpers/workload';
import type { Effect } from '#controller-runtime';
import { claimNames, type Claims, createClaims, fixClaimOwners, waitsForStaleClaim } from './claims.ts';
import { inRange, isParallel, ordinalOf, ordinalsOfPass, podName, replicasOf, startOrdinal } from './kind.ts';
import { correctPod, createPod, deletePod, podFor, revisionOfPod } from './pods.ts';
import type { Revisions } from './revisions.ts';

export interface SetState {
  set: StatefulSet;
  spec: StatefulSetSpec;
  pods: readonly Pod[];
  claims: Claims;
  revisions: Revisions;
  now: number;
}

export interface SetWork {
  effects: Effect[];
  /** Pods deleted for an update: they no longer count as of the current revision. */
  updated: number;
  told: string;
  waitMs?: number;
}

const claimRetryMs = 1_000;

interface Place {
  ordinal: number;
  pod: Pod;
  exists: boolean;
}

interface Places {
  there: ReadonlyMap<number, Pod>;
  /** The replicas that this pass looks at. */
  replicas: Place[];
  condemned: Place[];
}

const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;
const isReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isPodReady(pod);

const isAvailable = ({ spec, now }: SetState, pod: Pod): boolean => isPodAvailable(pod, spec.minReadySeconds ?? 0, now);
const isUnavailable = (state: SetState, pod: Pod): boolean => !isAvailable(state, pod) || isLeaving(pod);

export function manageSet(state: SetState): SetWork {
  const { there, replicas, condemned } = placesOf(state);
  const unhealthy = [...replicas, ...[...condemned].reverse()].find(({ pod }) => isUnavailable(state, pod));
  const work: SetWork = { effects: [], updated: 0, told: '' };
  const stopped =
    eachOf(state, replicas, (place) => settleReplica(state, place, work)) ||
    eachOf(state, condemned, (place) => void work.effects.push(...fixOwners(state, place))) ||
    eachOf(state, condemned, (place) => removeCondemned(state, place, unhealthy, work));
  if (!stopped && state.spec.updateStrategy?.type === 'RollingUpdate') updateOne(state, there, work);
  return { ...work, effects: state.spec && isParallel(state.spec) ? grouped(work.effects) : work.effects };
}

/** Pods by ordinal, missing ones as they are to be made; those beyond the range from the highest down. */
function placesOf({ set, spec, pods, revisions }: SetState): Places {
  const there = new Map<number, Pod>();
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal !== undefined) there.set(ordinal, pod);
  }
  const replicas = Array.from(
    ordinalsOfPass(spec, (ordinal) => there.has(ordinal)),
    (ordinal): Place => {
      const pod = there.get(ordinal);
      return pod ? { ordinal, pod, exists: true } : { ordinal, pod: podFor(set, spec, revisions, ordinal), exists: false };
    },
  );
  const condemned = [...there]
    .filter(([ordinal]) => !inRange(spec, ordinal))
    .sort(([a], [b]) => b - a)
    .map(([ordinal, pod]): Place => ({ ordinal, pod, exists: true }));
  return { there, replicas, condemned };
}

/** Visits the replicas in order, until one says stop; with the policy Parallel all of them. Answers whether it was stopped. */
function eachOf({ spec }: SetState, places: readonly Place[], visit: (place: Place) => boolean | void): boolean {
  for (const place of places) if (visit(place) && !isParallel(spec)) return true;
  return false;
}

/** True: the ordinals after this one wait. */
function settleReplica(state: SetState, place: Place, work: SetWork): boolean {
  const { set, spec, claims } = state;
  const { ordinal, pod, exists } = place;
  const name = podName(set, ordinal);
  const phase = pod.status?.phase;
  if (exists && (phase === 'Failed' || phase === 'Succeeded')) {
    if (!isLeaving(pod)) work.effects.push(deletePod(set, pod));
    work.told ||= `pod ${name} has ended and is made again`;
    return true;
  }
  if (!exists || phase === 'Pending') {
    const names = claimNames(set, ordinal);
    if (!exists && waitsForStaleClaim(set, spec, pod, names, claims))
      return waits(work, `pod ${name} waits for the claim of its predecessor to go`);
    work.effects.push(...createClaims(set, ordinal, name, claims));
    if (names.some((claim) => claims.get(claim)?.metadata.deletionTimestamp !== undefined))
      return waits(work, `a claim of pod ${name} is being deleted`);
  }
  if (!exists) {
    work.effects.push(createPod(set, pod));
    work.told ||= `pod ${name} is missing and is made`;
    return true;
  }
  if (!isParallel(spec) && (isLeaving(pod) || !isReady(pod) || !isAvailable(state, pod))) {
    work.told ||= `the next step waits for pod ${name} to be available`;
    return true;
  }
  work.effects.push(...fixOwners(state, place), ...correctPod(set, pod, ordinal));
  return false;
}

function waits(work: SetWork, told: string): true {
  work.waitMs = claimRetryMs;
  work.told ||= told;
  return true;
}

const fixOwners = ({ set, spec, claims }: SetState, { pod, ordinal }: Place): Effect[] =>
  fixClaimOwners(set, spec, pod, ordinal, claims);

function removeCondemned(state: SetState, { pod }: Place, unhealthy: Place | undefined, work: SetWork): boolean {
  if (isLeaving(pod)) return true;
  const first = unhealthy?.pod === pod;
  if (!isParallel(state.spec) && !first && (!isReady(pod) || !isAvailable(state, pod))) {
    work.told ||= `scaling down waits for pod ${unhealthy?.pod.metadata.name ?? ''} to be available`;
    return true;
  }
  work.effects.push(deletePod(state.set, pod));
  work.told ||= `pod ${pod.metadata.name ?? ''} is beyond the wanted number and goes`;
  return true;
}

/** From the highest ordinal down to the partition, one pod at a time. */
function updateOne(state: SetState, there: ReadonlyMap<number, Pod>, work: SetWork): void {
  const { set, spec, revisions } = state;
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const first = startOrdinal(spec);
  for (let ordinal = first + replicasOf(spec) - 1; ordinal >= first + partition; ordinal--) {
    const pod = there.get(ordinal);
    if (pod && revisionOfPod(pod) !== revisions.update.metadata.name && !isLeaving(pod)) {
      work.effects.push(deletePod(set, pod));
      work.updated = 1;
      work.told ||= `pod ${pod.metadata.name ?? ''} is of an old revision and is replaced`;
      return;
    }
    if (!pod || isUnavailable(state, pod)) {
      work.told ||= `the update waits for pod ${podName(set, ordinal)} to be available`;
      return;
    }
  }
}

/** Claims before pods, each kind at once. */
function grouped(effects: readonly Effect[]): Effect[] {
  const isClaim = (effect: Effect): boolean => effect.op === 'create' && effect.resource.resource === 'persistentvolumeclaims';
  const parts = [effects.filter(isClaim), effects.filter((effect) => !isClaim(effect))];
  return parts.flatMap((part): Effect[] => (part.length > 0 ? [{ op: 'parallel', effects: part }] : []));
}
