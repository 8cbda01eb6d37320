// Lets go of claims: pods that will not run any more lose their reservation, the last of them takes the allocation with it, and a claim that
// was made for such a pod is deleted. Pure.
import type { Pod } from '#api/core/v1';
import type { ResourceClaim, ResourceClaimConsumerReference } from '#api/resource/v1';
import type { KubeObject } from '#apimachinery/meta';
import { isTerminalPhase } from '#component-helpers/pod';
import { allocationFinalizer } from '#component-helpers/resourceclaim';
import { action, type Effect, type Plan, type Ref, refKey } from '#controller-runtime';
import { pods, refOf, withoutFinalizer } from '#controller-runtime/platform';
import { resourceClaims, writeStatus } from './resources.ts';

export interface ClaimView {
  claim: ResourceClaim | undefined;
  /** Pods that the claim is reserved for, or was made for, by name; what is not in it was not seen by a watch. */
  pods: ReadonlyMap<string, Pod>;
  live: ReadonlyMap<string, KubeObject | undefined>;
}

/** Writes the status of a claim, then takes the finalizer from what that answered. */
export const release = action<ResourceClaim>('release');

/** What is done once the status is written. */
export const afterRelease = (written: ResourceClaim): Plan => ({
  effects: [withoutFinalizer(resourceClaims, written, allocationFinalizer)],
});

/** Whether no container of the pod runs, nor ever will. */
const isDone = ({ metadata, spec, status }: Pod): boolean =>
  isTerminalPhase(status?.phase) || (metadata.deletionTimestamp !== undefined && !spec?.nodeName);

const podRef = (claim: ResourceClaim, name: string): Ref => ({ resource: pods, namespace: claim.metadata.namespace ?? '', name });

const isPod = ({ apiGroup, resource }: ResourceClaimConsumerReference): boolean => !apiGroup && resource === 'pods';

function stillUses(view: ClaimView, claim: ResourceClaim, user: ResourceClaimConsumerReference): boolean {
  if (!isPod(user)) return true;
  const pod = view.pods.get(user.name);
  if (pod !== undefined) return pod.metadata.uid === user.uid && !isDone(pod);
  return view.live.get(refKey(podRef(claim, user.name)))?.metadata.uid === user.uid;
}

const ownerOf = ({ metadata }: ResourceClaim): { name: string; uid: string } | undefined =>
  metadata.ownerReferences?.find(({ controller, apiVersion, kind }) => controller && apiVersion === 'v1' && kind === 'Pod');

/** Deletes a claim that was made for a pod which has been replaced or is done. */
function deleteUnused(view: ClaimView, claim: ResourceClaim): Effect[] {
  const owner = ownerOf(claim);
  const pod = owner && view.pods.get(owner.name);
  if (pod === undefined || claim.metadata.deletionTimestamp !== undefined) return [];
  return pod.metadata.uid !== owner?.uid || isDone(pod) ? [{ op: 'delete', ref: refOf(resourceClaims, claim) }] : [];
}

export function reconcileClaim(view: ClaimView): Plan {
  const { claim } = view;
  if (claim === undefined) return { effects: [] };
  const users = claim.status?.reservedFor ?? [];
  const needsLive = users
    .filter((user) => isPod(user) && !view.pods.has(user.name))
    .map(({ name }) => podRef(claim, name))
    .filter((ref) => !view.live.has(refKey(ref)));
  if (needsLive.length > 0) return { effects: [], needsLive };

  const remaining = users.filter((user) => stillUses(view, claim, user));
  const hasFinalizer = claim.metadata.finalizers?.includes(allocationFinalizer) === true;
  const { allocation, ...kept } = claim.status ?? {};
  const isLetGo = remaining.length < users.length;
  if (isLetGo && remaining.length > 0) {
    return {
      effects: [writeStatus(claim, { ...claim.status, reservedFor: remaining })],
      because: 'Pods that used it are gone or done.',
    };
  }
  if (remaining.length > 0) return { effects: [] };
  const unused = deleteUnused(view, claim);
  // Without the finalizer somebody else has allocated the claim, and frees it.
  if (isLetGo && !hasFinalizer) {
    return {
      effects: [writeStatus(claim, { ...claim.status, reservedFor: [] }), ...unused],
      because: 'Nobody uses it any more.',
    };
  }
  const isLeaving = claim.metadata.deletionTimestamp !== undefined && hasFinalizer;
  if (!isLetGo && !isLeaving)
    return { effects: unused, ...(unused.length > 0 && { because: 'The pod that it was made for is done.' }) };
  const freed = { ...claim, status: { ...kept, reservedFor: [] } };
  const effects = isLetGo || allocation !== undefined ? [release.on(freed)] : afterRelease(claim).effects;
  return { effects: [...effects, ...unused], because: 'Nobody uses it any more, so its devices are free for others.' };
}
