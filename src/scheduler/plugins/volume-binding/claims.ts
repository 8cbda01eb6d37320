// A pod's claims by what is still to be done for them (upstream plugins/volumebinding GetPodVolumeClaims, FindPodVolumes).
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import { type ClusterView, failed, type NodeInfo, type PodInfo, type Status, unresolvable } from '../../framework/index.ts';
import {
  bindCompletedAnnotation,
  claimClass,
  isReachable,
  matchingVolume,
  requestedStorage,
  selectedNodeAnnotation,
} from './matching.ts';
import { canProvision } from './provisioning.ts';

const name = 'VolumeBinding';
const reasons = {
  nodeConflict: "node(s) didn't match PersistentVolume's node affinity",
  bindConflict: "node(s) didn't find available persistent volumes to bind",
  noSpace: 'node(s) did not have enough free storage',
  noVolume: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
};

export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Claims that are bound, or whose volumes are made, once a node is chosen; the smallest first. */
  readonly delayed: readonly PersistentVolumeClaim[];
  /** Should have been bound by now. */
  readonly immediate: readonly PersistentVolumeClaim[];
  readonly volumes: ReadonlyMap<string, readonly PersistentVolume[]>;
}

export const isBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec?.volumeName) && metadata.annotations?.[bindCompletedAnnotation] !== undefined;

/** What is wrong with the pod's claims as such. */
function problem({ pod, namespace }: PodInfo, claimName: string, ephemeral: boolean, view: ClusterView): string | undefined {
  const claim = view.get('PersistentVolumeClaim', namespace, claimName);
  const quoted = JSON.stringify(claimName);
  if (claim === undefined) {
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`;
  }
  if (claim.status?.phase === 'Lost') {
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`;
  }
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`;
  const isOwn = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid);
  return ephemeral && !isOwn
    ? `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`
    : undefined;
}

function isDelayed(claim: PersistentVolumeClaim, view: ClusterView): boolean {
  const className = claimClass(claim);
  const mode = className === '' ? undefined : view.get('StorageClass', '', className)?.volumeBindingMode;
  return mode === 'WaitForFirstConsumer' && !claim.spec?.volumeName;
}

/** Sorts the claims, or says why the pod cannot go anywhere yet. */
export function podClaims(pod: PodInfo, view: ClusterView): PodClaims | Status {
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  const immediate: PersistentVolumeClaim[] = [];
  for (const { name: volume, persistentVolumeClaim, ephemeral } of pod.pod.spec?.volumes ?? []) {
    if (!persistentVolumeClaim && !ephemeral) continue;
    const claimName = persistentVolumeClaim?.claimName ?? `${pod.pod.metadata.name}-${volume}`;
    const message = problem(pod, claimName, persistentVolumeClaim === undefined, view);
    if (message !== undefined) return unresolvable(name, message);
    const claim = view.get('PersistentVolumeClaim', pod.namespace, claimName) as PersistentVolumeClaim;
    if (isBound(claim)) bound.push(claim);
    else (isDelayed(claim, view) ? delayed : immediate).push(claim);
  }
  if (immediate.length > 0) return unresolvable(name, 'pod has unbound immediate PersistentVolumeClaims');
  delayed.sort((a, b) => requestedStorage(a).compare(requestedStorage(b)));
  const classes = new Set(delayed.map(claimClass));
  const all = classes.size === 0 ? [] : view.list('PersistentVolume');
  const volumes = new Map(
    [...classes].map((one) => [one, all.filter(({ spec }) => (spec?.storageClassName ?? '') === one)] as const),
  );
  return { bound, delayed, immediate, volumes };
}

export interface NodeVolumes {
  readonly bindings: readonly { volume: PersistentVolume; claim: PersistentVolumeClaim }[];
  readonly provisions: readonly PersistentVolumeClaim[];
}

const none: NodeVolumes = { bindings: [], provisions: [] };

function boundProblem(bound: readonly PersistentVolumeClaim[], { node }: NodeInfo, view: ClusterView): string | undefined {
  for (const claim of bound) {
    const volume = view.get('PersistentVolume', '', claim.spec?.volumeName ?? '');
    if (volume === undefined) return reasons.noVolume;
    if (!isReachable(volume, node)) return reasons.nodeConflict;
  }
  return undefined;
}

/** What would have to be done for the pod on this node, or why it cannot. */
export function nodeVolumes(claims: PodClaims, node: NodeInfo, view: ClusterView): NodeVolumes | Status {
  const found: string[] = [];
  const boundTrouble = boundProblem(claims.bound, node, view);
  if (boundTrouble !== undefined) found.push(boundTrouble);
  const delayed = delayedVolumes(claims, node, view);
  if (typeof delayed === 'string') found.push(delayed);
  else if ('code' in delayed) return delayed;
  // A missing volume is reported last.
  return found.length > 0
    ? unresolvable(name, ...found.sort((a, b) => Number(a === reasons.noVolume) - Number(b === reasons.noVolume)))
    : (delayed as NodeVolumes);
}

function delayedVolumes(
  { delayed, volumes }: PodClaims,
  { node, name: nodeName }: NodeInfo,
  view: ClusterView,
): NodeVolumes | Status | string {
  if (delayed.length === 0) return none;
  const bindings: { volume: PersistentVolume; claim: PersistentVolumeClaim }[] = [];
  const provisions: PersistentVolumeClaim[] = [];
  const taken = new Set<string>();
  for (const claim of delayed) {
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
    if (selected !== undefined && selected !== nodeName) return reasons.bindConflict;
    const volume = selected === undefined ? matchingVolume(claim, volumes.get(claimClass(claim)) ?? [], node, taken) : undefined;
    if (volume === undefined) provisions.push(claim);
    else {
      taken.add(volume.metadata.name ?? '');
      bindings.push({ volume, claim });
    }
  }
  for (const claim of provisions) {
    const answer = canProvision(claim, node, view);
    if (answer === 'no') return reasons.bindConflict;
    if (answer === 'noSpace') return reasons.noSpace;
    if (answer !== 'yes') return failed(name, answer.error);
  }
  return { bindings, provisions };
}
