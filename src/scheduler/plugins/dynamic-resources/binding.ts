// What is written to claims before their pod is bound, and what has to be true of their devices then (KEP-4381, KEP-5007). Pure.
import type { AllocationResult, DeviceRequestAllocationResult, ResourceClaim } from '#api/resource/v1';
import { formatTime } from '#apimachinery/meta';
import { allocationFinalizer, isReservedFor, userOf } from '#component-helpers/resourceclaim';
import { type BindEffect, type ClusterView, failed, type PodInfo, type Status } from '../../framework/index.ts';
import { name } from './claims.ts';
import { bindingTimeoutMs } from './limits.ts';

const claims = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' };

type Write = Extract<BindEffect, { kind: 'update' }>;

const statusWrite = (claim: ResourceClaim, status: ResourceClaim['status']): Write => {
  const object: ResourceClaim = { ...claim, status };
  return { kind: 'update', resource: claims, subresource: 'status', object };
};

/** Enters the pod as a user of the claim, with what was allocated for it on the chosen node. */
export function reserve(claim: ResourceClaim, allocation: AllocationResult | undefined, pod: PodInfo, nowMs: number): Write[] {
  const wasAllocated = claim.status?.allocation;
  if (wasAllocated !== undefined && isReservedFor(claim, pod.uid)) return [];
  const { finalizers = [] } = claim.metadata;
  const isNew = allocation !== undefined && !finalizers.includes(allocationFinalizer);
  const kept = isNew ? { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers, allocationFinalizer] } } : claim;
  const given = allocation ?? wasAllocated;
  const written = statusWrite(kept, {
    ...claim.status,
    ...(given && { allocation: { ...given, allocationTimestamp: given.allocationTimestamp ?? formatTime(nowMs) } }),
    reservedFor: [...(claim.status?.reservedFor ?? []), userOf(pod.pod)],
  });
  return isNew ? [{ kind: 'update', resource: claims, object: kept }, written] : [written];
}

/** Takes the devices of a claim back that nobody else uses. */
export const deallocate = (claim: ResourceClaim): Write => {
  const { allocation: _, devices: _devices, ...kept } = claim.status ?? {};
  return statusWrite(claim, { ...kept, reservedFor: [] });
};

/** Whether nobody but the pod uses the claim. */
export const isFreeFor = ({ status }: ResourceClaim, pod: PodInfo): boolean =>
  (status?.reservedFor ?? []).every(({ uid }) => uid === pod.uid);

const resultsOf = ({ status }: ResourceClaim): readonly DeviceRequestAllocationResult[] =>
  status?.allocation?.devices?.results ?? [];

/** What a device's conditions say: true once all that have to hold do; the failure's text where one says so. */
function readiness(claim: ResourceClaim, result: DeviceRequestAllocationResult): boolean | string {
  const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } = result;
  if (bindingConditions.length === 0) return true;
  const own = claim.status?.devices?.find(
    (one) => one.driver === driver && one.pool === pool && one.device === device && one.shareID === shareID,
  );
  const isTrue = (type: string) => own?.conditions?.find((one) => one.type === type && one.status === 'True');
  const failure = bindingFailureConditions.map(isTrue).find((condition) => condition !== undefined);
  if (failure !== undefined)
    return `device binding failed: claim=${claim.metadata.name}, reason=${failure.reason}, message=${JSON.stringify(failure.message)}`;
  return bindingConditions.every((type) => isTrue(type) !== undefined);
}

/** Whether all devices of an allocated claim are ready for its pod; the failure's text where they will not be. */
export function isReady(claim: ResourceClaim): boolean | string {
  let ready = true;
  for (const result of resultsOf(claim)) {
    const one = readiness(claim, result);
    if (typeof one === 'string') return one;
    ready &&= one;
  }
  return ready;
}

export const hasTimedOut = (claim: ResourceClaim, nowMs: number): boolean => {
  const since = claim.status?.allocation?.allocationTimestamp;
  const waits = resultsOf(claim).some(({ bindingConditions }) => bindingConditions !== undefined);
  return waits && typeof since === 'string' && Date.parse(since) + bindingTimeoutMs < nowMs;
};

/** Waits until the devices of the claims are ready; nothing where none has to be made ready. */
export function awaitReadiness(written: readonly ResourceClaim[]): BindEffect[] {
  const waiting = written.filter((claim) => resultsOf(claim).some(({ bindingConditions }) => bindingConditions !== undefined));
  if (waiting.length === 0) return [];
  const look = (view: ClusterView): boolean | Status => {
    for (const { metadata } of waiting) {
      const claim = view.get('ResourceClaim', metadata.namespace ?? '', metadata.name ?? '');
      const ready =
        claim === undefined ? `could not find v1.ResourceClaim "${metadata.namespace}/${metadata.name}"` : isReady(claim);
      if (typeof ready === 'string') return failed(name, ready);
      if (!ready) return false;
    }
    return true;
  };
  return [{ kind: 'await', describe: 'device binding conditions', timeoutMs: bindingTimeoutMs, done: look }];
}
