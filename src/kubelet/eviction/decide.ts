// Which pod goes for what the node is short of (upstream pkg/kubelet/eviction). Pure.
import type { Pod, PodCondition } from '#api/core/v1';
import { parseQuantity, quantityOf } from '#apimachinery/quantity';
import { isCriticalPod, podQos, podRequests } from '#component-helpers/pod';
import { amountOf, type Observations, signalResources, type Threshold } from './thresholds.ts';

const qosRank = { BestEffort: 0, Burstable: 1, Guaranteed: 2 };

/** What a pod uses of the resource that is short, in bytes. */
export interface Usage {
  total: number;
  /** Bytes used by each container, by its name. */
  containers: ReadonlyMap<string, number>;
}

/** Best candidate first: over its request, lower priority, more above the request. */
export function rankByUse(pods: readonly Pod[], resource: string, usage: (pod: Pod) => Usage): Pod[] {
  const requested = (pod: Pod): number => podRequests(pod).get(resource)?.value() ?? 0;
  const excess = (pod: Pod): number => usage(pod).total - requested(pod);
  const priority = (pod: Pod): number => pod.spec?.priority ?? 0;
  return [...pods].sort(
    (a, b) =>
      Number(excess(b) > 0) - Number(excess(a) > 0) ||
      priority(a) - priority(b) ||
      excess(b) - excess(a) ||
      qosRank[podQos(a)] - qosRank[podQos(b)],
  );
}

export interface EvictionChoice {
  pod: Pod;
  message: string;
  condition: PodCondition;
}

export interface EvictionInput {
  /** The one that is answered. */
  threshold: Threshold;
  observations: Observations;
  pods: readonly Pod[];
  /** How much a pod uses of the resource that the threshold is about. */
  usage(pod: Pod): Usage;
}

/** The pod that goes; one at a time. */
export function chooseEviction({ threshold, observations, pods, usage }: EvictionInput): EvictionChoice | undefined {
  const { signal, value } = threshold;
  const seen = observations[signal];
  if (seen === undefined) return undefined;
  const resource = signalResources[signal] ?? signal;
  const candidates = pods.filter((candidate) => !isCriticalPod(candidate));
  const pod = rankByUse(candidates, resource, usage)[0];
  if (pod === undefined) return undefined;
  const quantity = bytesText(amountOf(value, seen.capacity));
  const message =
    `The node was low on resource: ${resource}. Threshold quantity: ${quantity}, available: ${bytesText(seen.available)}. ` +
    containerNotes(pod, resource, usage(pod));
  const condition: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message };
  return { pod, message, condition: { ...condition, observedGeneration: pod.metadata.generation } };
}

const bytesText = (bytes: number): string => quantityOf(Math.round(bytes), 'BinarySI').toString();

/** A sentence for each container that uses more than it asked for. */
function containerNotes({ spec }: Pod, resource: string, { containers }: Usage): string {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
    .map(({ name, resources }) => {
      const text = resources?.requests?.[resource];
      const used = containers.get(name);
      if (used === undefined || used <= (text === undefined ? 0 : parseQuantity(text).value())) return '';
      return `Container ${name} was using ${bytesText(used)}, request is ${text ?? '0'}, has larger consumption of ${resource}. `;
    })
    .join('');
}
