// How a simulated container behaves, from annotations of its pod. With a `.<container>` suffix an annotation is for one container only.
import type { Container, Pod } from '#api/core/v1';
import { parseDurationMs } from '#apimachinery/duration';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';
import { isRestartableInitContainer } from '#component-helpers/pod';

export const annotationPrefix = 'simulated.sagong.dev/';

export interface SimulationDefaults {
  /** From start to Running. */
  startDelayMs: number;
  /** How long containers run whose pods are meant to end: those that are not always restarted. */
  jobRunMs: number;
}

/** What a container uses that says nothing of it. */
const idle = { cpuNanoCores: 1_000_000, memoryBytes: 16 * 2 ** 20 };

/** More than any machine has: sums of such figures, and counters that grow by them, stay numbers that a client can read. */
const most = { cpuNanoCores: 1e6 * 1e9, memoryBytes: 2 ** 50 };

export interface Behaviour {
  startDelayMs: number;
  /** Undefined: runs until stopped. */
  runMs: number | undefined;
  exitCode: number;
  /** Reason in the terminated state; by default Completed or Error. */
  reason: string;
  message: string;
  ready: boolean;
}

function annotation(pod: Pod, container: Container, name: string): string | undefined {
  const annotations = pod.metadata.annotations;
  return annotations?.[`${annotationPrefix}${name}.${container.name}`] ?? annotations?.[`${annotationPrefix}${name}`];
}

function duration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return Math.max(0, parseDurationMs(text));
  } catch {
    return undefined;
  }
}

/** An image whose pull fails: the runtime's message. */
export const imageError = (pod: Pod): string | undefined => pod.metadata.annotations?.[`${annotationPrefix}image-error`];

/** Annotations: start-delay, run-for (durations), exit-code, exit-reason, exit-message, ready. Unreadable values count as absent. */
export function behaviourOf(pod: Pod, container: Container, defaults: SimulationDefaults): Behaviour {
  const read = (name: string): string | undefined => annotation(pod, container, name);
  const plainInit =
    (pod.spec?.initContainers ?? []).some(({ name }) => name === container.name) && !isRestartableInitContainer(container);
  const ends = (pod.spec?.restartPolicy ?? 'Always') !== 'Always' && !isRestartableInitContainer(container);
  const exitCode = Number.parseInt(read('exit-code') ?? '0', 10) || 0;
  return {
    startDelayMs: duration(read('start-delay')) ?? defaults.startDelayMs,
    runMs: duration(read('run-for')) ?? (plainInit ? 0 : ends || exitCode !== 0 ? defaults.jobRunMs : undefined),
    exitCode,
    reason: read('exit-reason') ?? (exitCode === 0 ? 'Completed' : 'Error'),
    message: read('exit-message') ?? '',
    ready: read('ready') !== 'false',
  };
}

function quantity(text: string | undefined): Quantity | undefined {
  if (text === undefined) return undefined;
  try {
    const value = parseQuantity(text);
    return value.sign < 0 ? undefined : value;
  } catch {
    return undefined;
  }
}

export interface Load {
  cpuNanoCores: number;
  memoryBytes: number;
}

const upTo = (max: number, value: number | undefined): number | undefined =>
  value !== undefined && value <= max ? value : undefined;

/** Annotations: cpu, memory (quantities), read anew each time; what no machine has counts as absent. A limit of CPU holds, as a kernel makes it hold. */
export function loadOf(pod: Pod, container: Container): Load {
  const nano = (value: Quantity | undefined): number | undefined => value?.scaledValue(-9);
  const cpu = upTo(most.cpuNanoCores, nano(quantity(annotation(pod, container, 'cpu')))) ?? idle.cpuNanoCores;
  const limit = nano(quantity(container.resources?.limits?.['cpu'])) ?? Number.POSITIVE_INFINITY;
  return {
    cpuNanoCores: Math.min(cpu, limit),
    memoryBytes: upTo(most.memoryBytes, quantity(annotation(pod, container, 'memory'))?.value()) ?? idle.memoryBytes,
  };
}
