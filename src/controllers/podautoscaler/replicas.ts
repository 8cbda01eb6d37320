// From measurements to a number of replicas (pkg/controller/podautoscaler, replica calculator;
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details). Amounts are in thousandths. Pure.
import type { Pod } from '#api/core/v1';
import { parseQuantity } from '#apimachinery/quantity';
import { podReadyCondition } from '#component-helpers/workload';
import { own } from '#utils';

/** CPU use of a pod counts little while it starts. */
const cpuInitializationMs = 300_000;
/** A pod that was never ready by then is slow, not starting. */
const initialReadinessMs = 30_000;

export interface Measurement {
  value: number;
  /** Unix milliseconds. */
  atMs: number;
  windowMs: number;
}
export type PodMeasurements = ReadonlyMap<string, Measurement>;
/** The answer to one metric of an autoscaler. */
export type Measured = { pods: Map<string, Measurement> } | { value: number } | { error: string };

export interface Tolerances {
  up: number;
  down: number;
}

export interface Calculated {
  replicas: number;
  /** Average use. */
  average: number;
  /** Per cent of requests. */
  utilization?: number;
}

/** What cannot be calculated, with upstream's text. */
export class MetricError extends Error {}

export const isWithin = (ratio: number, { up, down }: Tolerances): boolean => ratio >= 1 - down && ratio <= 1 + up;

const time = (text: string | null | undefined): number => Date.parse(text ?? '');

function isStarting(pod: Pod, measured: Measurement, now: number): boolean {
  const ready = podReadyCondition(pod);
  const startedMs = time(pod.status?.startTime);
  if (!ready || Number.isNaN(startedMs)) return true;
  const changedMs = time(ready.lastTransitionTime);
  if (startedMs + cpuInitializationMs > now) return ready.status === 'False' || measured.atMs < changedMs + measured.windowMs;
  return ready.status === 'False' && startedMs + initialReadinessMs > changedMs;
}

interface Groups {
  ready: number;
  unready: string[];
  missing: string[];
  ignored: string[];
}

function group(pods: readonly Pod[], measured: PodMeasurements, isCpu: boolean, now: number): Groups {
  const groups: Groups = { ready: 0, unready: [], missing: [], ignored: [] };
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const own = measured.get(name);
    if (pod.metadata.deletionTimestamp || pod.status?.phase === 'Failed') groups.ignored.push(name);
    else if (pod.status?.phase === 'Pending') groups.unready.push(name);
    else if (!own) groups.missing.push(name);
    else if (isCpu && isStarting(pod, own, now)) groups.unready.push(name);
    else groups.ready++;
  }
  return groups;
}

interface Ratio {
  ratio: number;
  average: number;
  utilization?: number;
}

export interface Calculation {
  pods: readonly Pod[];
  measured: PodMeasurements;
  current: number;
  isCpu: boolean;
  tolerances: Tolerances;
  now: number;
  ratio(values: ReadonlyMap<string, number>): Ratio;
  /** What a pod that was not measured is taken to use, when the others use too little. */
  fallback(pod: string): number;
}

/** Pods that were not measured count against the direction that the others point to. */
export function calculate(input: Calculation): Calculated {
  const { pods, measured, current, tolerances, ratio } = input;
  if (pods.length === 0) throw new MetricError('no pods returned by selector while calculating replica count');
  const { ready, unready, missing, ignored } = group(pods, measured, input.isCpu, input.now);
  const values = new Map([...measured].map(([name, { value }]) => [name, value]));
  for (const name of [...ignored, ...unready]) values.delete(name);
  if (values.size === 0) throw new MetricError('did not receive metrics for targeted pods (pods might be unready)');
  const first = ratio(values);
  const stay: Calculated = { ...first, replicas: current };
  const addUnready = unready.length > 0 && first.ratio > 1;
  if (!addUnready && missing.length === 0)
    return isWithin(first.ratio, tolerances) ? stay : { ...first, replicas: Math.ceil(first.ratio * ready) };
  if (first.ratio !== 1) for (const name of missing) values.set(name, first.ratio < 1 ? input.fallback(name) : 0);
  if (addUnready) for (const name of unready) values.set(name, 0);
  const second = ratio(values).ratio;
  if (isWithin(second, tolerances) || (first.ratio < 1 && second > 1) || (first.ratio > 1 && second < 1)) return stay;
  const replicas = Math.ceil(second * values.size);
  if ((second < 1 && replicas > current) || (second > 1 && replicas < current)) return stay;
  return { ...first, replicas };
}

/** How the average of the values stands to a target average. */
export const averageRatio =
  (target: number) =>
  (values: ReadonlyMap<string, number>): Ratio => {
    const average = Math.trunc([...values.values()].reduce((sum, value) => sum + value, 0) / values.size);
    return { ratio: average / target, average };
  };

/** How the use, in per cent of what is requested, stands to a target. */
export const utilizationRatio =
  (target: number, requests: ReadonlyMap<string, number>) =>
  (values: ReadonlyMap<string, number>): Ratio => {
    let used = 0;
    let requested = 0;
    let count = 0;
    for (const [name, value] of values) {
      const request = requests.get(name);
      if (request === undefined) continue;
      used += value;
      requested += request;
      count++;
    }
    if (requested === 0) throw new MetricError('no metrics returned matched known pods');
    const utilization = Math.trunc((used * 100) / requested);
    return { ratio: utilization / target, utilization, average: Math.trunc(used / count) };
  };

const milli = (text: string): number => parseQuantity(text).milliValue();

/** What each pod requests of a resource. Throws MetricError for one that requests none. */
export function requestsOf(pods: readonly Pod[], resource: string, container: string): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const name = metadata.name ?? '';
    const whole = own(spec?.resources?.requests ?? {}, resource);
    if (container === '' && whole !== undefined) {
      requests.set(name, milli(whole));
      continue;
    }
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    const counted = [...(spec?.containers ?? []), ...sidecars].filter((one) => container === '' || one.name === container);
    if (container !== '' && counted.length === 0) throw new MetricError(`container ${container} not found in Pod ${name}`);
    let sum = 0;
    for (const one of counted) {
      const request = own(one.resources?.requests ?? {}, resource);
      if (request === undefined) throw new MetricError(`missing request for ${resource} in container ${one.name} of Pod ${name}`);
      sum += milli(request);
    }
    requests.set(name, sum);
  }
  return requests;
}

/** One number for all pods against a target for all. */
export function wholeReplicas(usage: number, target: number, current: number, ready: number, tolerances: Tolerances): number {
  const ratio = usage / target;
  if (current === 0) return Math.ceil(ratio);
  return isWithin(ratio, tolerances) ? current : Math.ceil(ratio * ready);
}

/** One number for all pods against a target for each. */
export function perPodReplicas(usage: number, target: number, current: number, tolerances: Tolerances): Calculated {
  const replicas = isWithin(usage / (target * current), tolerances) ? current : Math.ceil(usage / target);
  return { replicas, average: current === 0 ? usage : Math.ceil(usage / current) };
}
