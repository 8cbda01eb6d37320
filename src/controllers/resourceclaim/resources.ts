// The resources of the loop over claims, and the names of its keys.
import type { ResourceClaim, ResourceClaimStatus } from '#api/resource/v1';
import type { GroupVersionResource } from '#apimachinery/meta';
import type { Effect, ObjectId } from '#controller-runtime';
import { pods } from '#controller-runtime/platform';

const resource = (name: string): GroupVersionResource => ({ group: 'resource.k8s.io', version: 'v1', resource: name });

export const resourceClaims = resource('resourceclaims');
export const resourceClaimTemplates = resource('resourceclaimtemplates');

const podPrefix = 'pod:';
const claimPrefix = 'claim:';

export const podKey = (namespace: string | undefined, name: string | undefined): string => `${podPrefix}${namespace}/${name}`;
export const claimKey = (namespace: string | undefined, name: string | undefined): string => `${claimPrefix}${namespace}/${name}`;

/** The object that a key of the loop names. */
export const objectOfKey = (key: string): ObjectId =>
  key.startsWith(podPrefix)
    ? { ...pods, key: key.slice(podPrefix.length) }
    : { ...resourceClaims, key: key.slice(claimPrefix.length) };

/** Writes the status of a claim, unless it changed meanwhile. */
export function writeStatus(claim: ResourceClaim, status: ResourceClaimStatus): Effect {
  const object: ResourceClaim = { ...claim, status };
  return { op: 'update', resource: resourceClaims, subresource: 'status', object };
}
