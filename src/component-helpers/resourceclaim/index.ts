// What the scheduler and the control loops share about the claims of pods (k8s.io/dynamic-resource-allocation/resourceclaim, KEP-4381).
import type { Pod, PodResourceClaim } from '#api/core/v1';
import type { DeviceTaint, DeviceToleration, ResourceClaim, ResourceClaimConsumerReference } from '#api/resource/v1';
import { controllerOf } from '#apimachinery/meta';

/** A claim has at most so many users. */
export const usersMax = 256;

/** The finalizer that keeps a claim while it has devices. */
export const allocationFinalizer = 'resource.kubernetes.io/delete-protection';

/** The annotation of a claim that was made from a template: the entry of the pod that it is for. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name';

/** The name of the claim behind an entry of the pod: undefined while the claim is still to be made, null when the pod needs none. */
export function claimNameOf(pod: Pod, entry: PodResourceClaim): string | null | undefined {
  if (entry.resourceClaimName !== undefined) return entry.resourceClaimName;
  const made = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  return made === undefined ? undefined : (made.resourceClaimName ?? null);
}

/** Why a claim that is named by the pod's status is not the pod's own, or undefined. */
export function ownerProblem(pod: Pod, claim: ResourceClaim): string | undefined {
  if (controllerOf(claim.metadata)?.uid === pod.metadata.uid) return undefined;
  const { namespace, name } = claim.metadata;
  return `ResourceClaim ${namespace}/${name} was not created for Pod ${pod.metadata.namespace}/${pod.metadata.name} (Pod is not owner)`;
}

export const isReservedFor = (claim: ResourceClaim, uid: string): boolean =>
  claim.status?.reservedFor?.some((user) => user.uid === uid) === true;

export const canBeReserved = ({ status }: ResourceClaim): boolean => (status?.reservedFor?.length ?? 0) < usersMax;

/** The pod, as an entry of `reservedFor`. */
export const userOf = ({ metadata }: Pod): ResourceClaimConsumerReference => ({
  resource: 'pods',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

/** Whether a request may have a device in spite of its taint. */
export function toleratesDeviceTaint(toleration: DeviceToleration, taint: DeviceTaint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return (toleration.operator || 'Equal') === 'Equal' && (toleration.value ?? '') === (taint.value ?? '');
}
