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

/** Best candidate first: over its request, lower priority, more above the request. */
export function rankForMemory(pods: readonly Pod[], usedBytes: (pod: Pod) => number): Pod[] {
  const requested = (pod: Pod): number => podRequests(pod).get('memory')?.value() ?? 0;
  const excess = (pod: Pod): number => usedBytes(pod) - requested(pod);
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
  usedBytes(pod: Pod): number;
}

/** One pod at a time goes, for the first signal that is met; memory before disk. */
export function chooseEviction({
  signals,
  observations,
  thresholds,
  pods,
  usedBytes,
}: EvictionInput): EvictionChoice | undefined {
  const signal = signals.includes('memory.available') ? 'memory.available' : signals[0];
  const seen = signal === undefined ? undefined : observations[signal];
  if (signal === undefined || seen === undefined) return undefined;
  const pod = rankForMemory(
    pods.filter((candidate) => !isCriticalPod(candidate)),
    usedBytes,
  )[0];
  if (pod === undefined) return undefined;
  const resource = signalResources[signal] ?? signal;
  const amount = (value: number): string => quantityOf(Math.round(value), 'BinarySI').toString();
  const threshold = amount(thresholdAmount(thresholds[signal] ?? '0', seen.capacity));
  let message = `The node was low on resource: ${resource}. Threshold quantity: ${threshold}, available: ${Math.floor(seen.available / 1024)}Ki. `;
  if (resource === 'memory') message += containerNote(pod, usedBytes(pod));
  const condition: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message };
  return { pod, message, condition: { ...condition, observedGeneration: pod.metadata.generation } };
}

function containerNote(pod: Pod, usedBytes: number): string {
  const request = podRequests(pod).get('memory')?.value() ?? 0;
  const container = pod.spec?.containers[0]?.name ?? '';
  if (usedBytes <= request) return '';
  const requested = quantityOf(request, 'BinarySI').toString();
  return `Container ${container} was using ${Math.floor(usedBytes / 1024)}Ki, request is ${requested}, has larger consumption of memory. `;
}
