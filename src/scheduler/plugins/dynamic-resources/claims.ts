// The claims of a pod, and what keeps it from using them. Pure.
import type { ResourceClaim } from '#api/resource/v1';
import { canBeReserved, claimNameOf, isReservedFor, ownerProblem } from '#component-helpers/resourceclaim';
import { type ClusterView, type PodInfo, type Status, unresolvable } from '../../framework/index.ts';

export const name = 'DynamicResources';

/** The claims of the pod, in the order of its entries, or why it cannot have them yet. */
export function claimsOf({ pod, namespace }: PodInfo, view: ClusterView): ResourceClaim[] | Status {
  const found: ResourceClaim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const wanted = claimNameOf(pod, entry);
    if (wanted === null) continue;
    if (wanted === undefined)
      return unresolvable(name, `pod ${JSON.stringify(`${namespace}/${pod.metadata.name}`)}: ResourceClaim not created yet`);
    const claim = view.get('ResourceClaim', namespace, wanted);
    if (claim === undefined)
      return unresolvable(name, `could not find v1.ResourceClaim ${JSON.stringify(`${namespace}/${wanted}`)}`);
    if (claim.metadata.deletionTimestamp !== undefined)
      return unresolvable(name, `resourceclaim ${JSON.stringify(wanted)} is being deleted`);
    const problem = entry.resourceClaimTemplateName === undefined ? undefined : ownerProblem(pod, claim);
    if (problem !== undefined) return unresolvable(name, problem);
    found.push(claim);
  }
  return found;
}

export const isList = (found: ResourceClaim[] | Status): found is ResourceClaim[] => Array.isArray(found);

/** Whether the pod uses the claim. */
export const uses = ({ pod, namespace }: PodInfo, claim: ResourceClaim | undefined): boolean =>
  claim?.metadata.namespace === namespace &&
  pod.spec?.resourceClaims?.some((entry) => claimNameOf(pod, entry) === claim.metadata.name) === true;

/** Whether a change of a claim may help a waiting pod: its own claims do, and devices that somebody gives back. */
export const helpsPod = (pod: PodInfo, old: ResourceClaim | undefined, now: ResourceClaim | undefined): boolean =>
  uses(pod, now) || (old?.status?.allocation !== undefined && now?.status?.allocation === undefined);

const missingClass = (request: string, deviceClass: string): Status =>
  unresolvable(name, `request ${request}: device class ${deviceClass} does not exist`);

/** What keeps the pod from having the claim on any node. */
export function problemOf(claim: ResourceClaim, pod: PodInfo, view: ClusterView): Status | undefined {
  const { namespace = '', name: claimName = '' } = claim.metadata;
  if (view.isUnderWay?.('ResourceClaim', namespace, claimName))
    return unresolvable(name, `resource claim ${namespace}/${claimName} is in the process of being allocated`);
  if (claim.status?.allocation !== undefined)
    return canBeReserved(claim) || isReservedFor(claim, pod.uid) ? undefined : unresolvable(name, 'resourceclaim in use');
  for (const { name: request, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
    const wanted = exactly
      ? [{ request, deviceClass: exactly.deviceClassName }]
      : firstAvailable.map((one) => ({ request: `${request}/${one.name}`, deviceClass: one.deviceClassName }));
    const lacking = wanted.find(({ deviceClass }) => view.get('DeviceClass', '', deviceClass) === undefined);
    if (lacking) return missingClass(lacking.request, lacking.deviceClass);
    if (wanted.length === 0)
      return unresolvable(name, `resource claim ${namespace}/${claimName}, request ${request}: unknown request type`);
  }
  return undefined;
}
