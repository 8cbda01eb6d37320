// A pod's quality-of-service class (upstream pkg/apis/core/v1/helper/qos).
import type { Pod, ResourceRequirements } from '#api/core/v1';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const computeResources = ['cpu', 'memory'] as const;

function addTo(sums: Map<string, Quantity>, list: Record<string, string> | undefined): Set<string> {
  const found = new Set<string>();
  for (const name of computeResources) {
    const text = list?.[name];
    if (text === undefined) continue;
    const amount = parseQuantity(text);
    if (amount.sign !== 1) continue;
    found.add(name);
    const sum = sums.get(name);
    sums.set(name, sum ? sum.add(amount) : amount);
  }
  return found;
}

/** Computes the class from requests and limits; pod-level resources win over the containers'. */
export function computeQos(pod: Pod): QosClass {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  const spec = pod.spec;
  const parts: (ResourceRequirements | undefined)[] = spec?.resources
    ? [spec.resources]
    : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map((container) => container.resources);
  let guaranteed = true;
  for (const part of parts) {
    addTo(requests, part?.requests);
    if (addTo(limits, part?.limits).size < computeResources.length) guaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const equal = requests.size === limits.size && [...requests].every(([name, amount]) => limits.get(name)?.equals(amount));
  return guaranteed && equal ? 'Guaranteed' : 'Burstable';
}

/** The class recorded in status, which never changes, else computed. */
export const podQos = (pod: Pod): QosClass => (pod.status?.qosClass as QosClass | undefined) ?? computeQos(pod);
