// Pods with resource claims (KEP-4381, upstream plugins/dynamicresources): they wait until their claims exist, go only where allocated claims
// are available, and are entered as users of them. Allocating devices from ResourceSlices is not done here: a claim that nobody has
// allocated keeps its pod waiting.
import type { Pod } from '#api/core/v1';
import type { ResourceClaim } from '#api/resource/v1';
import { nodeSelectorMatches } from '#component-helpers/pod';
import {
  type ClusterView,
  interest,
  type Plugin,
  type PodInfo,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';

const name = 'DynamicResources';
const claims = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' };
const notAllocated = unschedulable(name, 'cannot allocate all claims');
const elsewhere = unresolvable(name, 'resourceclaim not available on the node');
const usersMax = 256;

/** The name of the claim behind an entry of the pod; undefined while it is still to be made, null when it needs none. */
function claimName(pod: Pod, entry: { name: string; resourceClaimName?: string }): string | null | undefined {
  if (entry.resourceClaimName !== undefined) return entry.resourceClaimName;
  const made = pod.status?.resourceClaimStatuses?.find((one) => one.name === entry.name);
  return made === undefined ? undefined : (made.resourceClaimName ?? null);
}

function claimsOf({ pod, namespace }: PodInfo, view: ClusterView): ResourceClaim[] | Status {
  const found: ResourceClaim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const wanted = claimName(pod, entry);
    if (wanted === null) continue;
    if (wanted === undefined) {
      return unresolvable(name, `pod ${JSON.stringify(`${namespace}/${pod.metadata.name}`)}: ResourceClaim not created yet`);
    }
    const claim = view.get('ResourceClaim', namespace, wanted);
    if (claim === undefined)
      return unresolvable(name, `could not find v1.ResourceClaim ${JSON.stringify(`${namespace}/${wanted}`)}`);
    if (claim.metadata.deletionTimestamp !== undefined)
      return unresolvable(name, `resourceclaim ${JSON.stringify(wanted)} is being deleted`);
    found.push(claim);
  }
  return found;
}

const isList = (found: ResourceClaim[] | Status): found is ResourceClaim[] => Array.isArray(found);

const isUser = (claim: ResourceClaim, uid: string): boolean =>
  claim.status?.reservedFor?.some((user) => user.uid === uid) === true;

const uses = ({ pod, namespace }: PodInfo, claim: ResourceClaim | undefined): boolean =>
  claim?.metadata.namespace === namespace &&
  pod.spec?.resourceClaims?.some((entry) => claimName(pod, entry) === claim.metadata.name) === true;

export const dynamicResources = (): Plugin<readonly ResourceClaim[]> => ({
  name,
  events: [
    interest<ResourceClaim>('ResourceClaim', ['Add', 'Update'], (pod, { now }) => uses(pod, now)),
    interest<Pod>('Pod', ['UpdatePodGeneratedResourceClaim'], (pod, { now }) => now?.metadata.uid === pod.uid),
    interest('Node', ['Add', 'UpdateNodeLabel', 'UpdateNodeTaint']),
  ],
  preEnqueue(pod, view) {
    const found = claimsOf(pod, view);
    return isList(found) ? undefined : found;
  },
  preFilter({ pod, view }) {
    const found = claimsOf(pod, view);
    if (!isList(found)) return { status: found };
    if (found.length === 0) return { skip: true, state: found };
    const full = found.find((claim) => !isUser(claim, pod.uid) && (claim.status?.reservedFor?.length ?? 0) >= usersMax);
    return full === undefined ? { state: found } : { status: unschedulable(name, 'resourceclaim in use') };
  },
  filter(state, { node }) {
    for (const { status } of state) {
      if (status?.allocation === undefined) return notAllocated;
      const { nodeSelector } = status.allocation;
      if (nodeSelector !== undefined && !nodeSelectorMatches(nodeSelector, node)) return elsewhere;
    }
    return undefined;
  },
  postFilter: (_cycle, tools) => ({
    status: tools.preFiltered(name)
      ? unschedulable(name, 'no new claims to deallocate')
      : { plugin: name, code: 'Error', reasons: ['not found'] },
  }),
  preBind(state, _node, { pod }) {
    const user = { resource: 'pods', name: pod.pod.metadata.name ?? '', uid: pod.uid };
    return (state ?? [])
      .filter((claim) => !isUser(claim, pod.uid))
      .map((claim) => ({
        kind: 'update' as const,
        resource: claims,
        subresource: 'status' as const,
        object: { ...claim, status: { ...claim.status, reservedFor: [...(claim.status?.reservedFor ?? []), user] } },
      }));
  },
});
