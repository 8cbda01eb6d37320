// Whether the node is short of something, and which pod goes for it (upstream pkg/kubelet/eviction). Pure.
import type { Pod, PodCondition } from '#api/core/v1';
import { parseQuantity, quantityOf } from '#apimachinery/quantity';
import { isCriticalPod, podQos, podRequests } from '#component-helpers/pod';

/** Available and total amount of a signal, in bytes, inodes or processes. */
export interface Observation {
  available: number;
  capacity: number;
}
export type Observations = Readonly<Record<string, Observation | undefined>>;

/** The resource a signal is about, as events name it. */
export const signalResources: Record<string, string> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

/** The amount a threshold stands for. */
export const thresholdAmount = (text: string, capacity: number): number =>
  text.endsWith('%') ? (capacity * Number.parseFloat(text)) / 100 : parseQuantity(text).value();

/** Signals below their threshold. */
export const signalsMet = (observations: Observations, thresholds: Readonly<Record<string, string>>): string[] =>
  Object.entries(thresholds)
    .filter(([signal, text]) => {
      const seen = observations[signal];
      return seen !== undefined && seen.available < thresholdAmount(text, seen.capacity);
    })
    .map(([signal]) => signal);

export const pressureOf = (signals: readonly string[]): { memory: boolean; disk: boolean; pid: boolean } => ({
  memory: signals.includes('memory.available'),
  disk: signals.some((signal) => signal.startsWith('nodefs.') || signal.startsWith('imagefs.')),
  pid: signals.includes('pid.available'),
});

const qosRank = { BestEffort: 0, Burstable: 1, Guaranteed: 2 };

/** What a pod uses of the resource that is short, in bytes. */
export interface Usage {
  total: number;
  /** By name. */
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
  signals: readonly string[];
  observations: Observations;
  thresholds: Readonly<Record<string, string>>;
  pods: readonly Pod[];
  /** Of the resource that the first signal (memory before all others) is about. */
  usage(pod: Pod): Usage;
}

/** The signal that is answered first. */
export const firstSignal = (signals: readonly string[]): string | undefined =>
  signals.includes('memory.available') ? 'memory.available' : signals[0];

/** One pod at a time goes, for the first signal that is met; memory before disk. */
export function chooseEviction({ signals, observations, thresholds, pods, usage }: EvictionInput): EvictionChoice | undefined {
  const signal = firstSignal(signals);
  const seen = signal === undefined ? undefined : observations[signal];
  if (signal === undefined || seen === undefined) return undefined;
  const resource = signalResources[signal] ?? signal;
  const candidates = pods.filter((candidate) => !isCriticalPod(candidate));
  const pod = rankByUse(candidates, resource, usage)[0];
  if (pod === undefined) return undefined;
  const threshold = bytesText(thresholdAmount(thresholds[signal] ?? '0', seen.capacity));
  const message =
    `The node was low on resource: ${resource}. Threshold quantity: ${threshold}, available: ${bytesText(seen.available)}. ` +
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
