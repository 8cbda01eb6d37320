// The quality of service class of a pod (pkg/apis/core/v1/helper/qos).
import type { Pod, PodSpec, ResourceRequirements } from '#api/core/v1';
import { compareQuantities, isPositive, type ResourceList, addResources } from '../../common/quantities.ts';

const counted = ['cpu', 'memory'];

function addCounted(total: ResourceList, list: ResourceList | undefined): number {
  let found = 0;
  for (const name of counted) {
    const amount = list?.[name];
    if (amount === undefined || !isPositive(amount)) continue;
    addResources(total, { [name]: amount });
    found++;
  }
  return found;
}

/** Guaranteed: every container has equal requests and limits of both; BestEffort: none has any; Burstable: the rest. */
export function computeQOS(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests: ResourceList = {};
  const limits: ResourceList = {};
  let guaranteed = true;
  const add = (resources: ResourceRequirements | undefined): void => {
    addCounted(requests, resources?.requests);
    if (addCounted(limits, resources?.limits) < counted.length) guaranteed = false;
  };
  if (spec.resources) addPodLevel(spec.resources, add, requests);
  else for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) add(resources);
  const names = Object.keys(requests);
  if (names.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const equal = names.every((name) => limits[name] !== undefined && compareQuantities(limits[name], requests[name] ?? '0') === 0);
  return guaranteed && equal && names.length === Object.keys(limits).length ? 'Guaranteed' : 'Burstable';
}

// Without limits for the pod nothing speaks against Guaranteed yet; the comparison of names decides.
function addPodLevel(
  resources: ResourceRequirements,
  add: (resources: ResourceRequirements) => void,
  requests: ResourceList,
): void {
  if (resources.limits && Object.keys(resources.limits).length > 0) add(resources);
  else addCounted(requests, resources.requests);
}

/** The class recorded in the status, else computed. */
export const qosOf = (pod: Pod): string => pod.status?.qosClass || computeQOS(pod.spec ?? { containers: [] });
