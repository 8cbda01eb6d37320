// When a node is short of something: thresholds as flags and configuration say them, and what repeated looks at the node make of them (upstream
// pkg/kubelet/eviction helpers.go; https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/). Pure.
import { parseDurationMs } from '#apimachinery/duration';
import { parseQuantity } from '#apimachinery/quantity';
import type { Pressure } from '../node/state.ts';

/** Available and total amount of a signal, in bytes, inodes or processes. */
export interface Observation {
  available: number;
  capacity: number;
}
export type Observations = Readonly<Record<string, Observation | undefined>>;

/** The resource a signal is about, as events name it. */
export const signalResources: Readonly<Record<string, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'containerfs.available': 'ephemeral-storage',
  'containerfs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

type PressureKind = keyof Pressure;

const pressureKind = (signal: string): PressureKind =>
  signal === 'memory.available' ? 'memory' : signal === 'pid.available' ? 'pid' : 'disk';

export interface Threshold {
  signal: string;
  /** A quantity, or a percentage of the capacity. */
  value: string;
  /** How much more than the threshold is to be free again. */
  minimumReclaim?: string;
  /** Soft: how long the threshold has to be met. */
  graceMs?: number;
}

/** Signal to text, as flags and configuration have them. */
type Texts = Readonly<Record<string, string>>;

export interface ThresholdTexts {
  hard: Texts;
  soft?: Texts;
  softGracePeriod?: Texts;
  minimumReclaim?: Texts;
}

function knownSignal(signal: string): void {
  if (signalResources[signal] === undefined) throw new Error(`unsupported eviction signal ${signal}`);
}

function percentOf(text: string): number {
  const digits = text.replace(/%+$/, '');
  const value = digits.trim() === '' ? Number.NaN : Number(digits);
  if (Number.isNaN(value)) throw new Error(`strconv.ParseFloat: parsing ${JSON.stringify(digits)}: invalid syntax`);
  return value;
}

/** Reads a threshold; undefined for one that is never or always met, which counts for nothing. */
function thresholdOf(signal: string, value: string): Threshold | undefined {
  knownSignal(signal);
  if (!value.endsWith('%')) {
    if (parseQuantity(value).sign <= 0) throw new Error(`eviction threshold ${signal} must be positive: ${value}`);
    return { signal, value };
  }
  if (value === '0%' || value === '100%') return undefined;
  const percent = percentOf(value);
  if (percent < 0) throw new Error(`eviction percentage threshold ${signal} must be >= 0%: ${value}`);
  if (percent > 100) throw new Error(`eviction percentage threshold ${signal} must be <= 100%: ${value}`);
  return { signal, value };
}

const thresholdsOf = (texts: Texts): Threshold[] =>
  Object.entries(texts).flatMap(([signal, value]) => thresholdOf(signal, value) ?? []);

function checkMinimumReclaim(signal: string, value: string): void {
  knownSignal(signal);
  if (value.endsWith('%')) {
    if (percentOf(value) <= 0) throw new Error(`eviction percentage minimum reclaim ${signal} must be positive: ${value}`);
  } else if (parseQuantity(value).sign < 0) throw new Error(`negative eviction minimum reclaim specified for ${signal}`);
}

function graceOf(signal: string, text: string): number {
  knownSignal(signal);
  const graceMs = parseDurationMs(text);
  if (graceMs < 0) throw new Error(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return graceMs;
}

/** Throws an Error in upstream's words. */
export function parseThresholds({ hard, soft = {}, softGracePeriod = {}, minimumReclaim = {} }: ThresholdTexts): Threshold[] {
  const graces = new Map(Object.entries(softGracePeriod).map(([signal, text]) => [signal, graceOf(signal, text)]));
  for (const [signal, text] of Object.entries(minimumReclaim)) checkMinimumReclaim(signal, text);
  const softOnes = thresholdsOf(soft).map((threshold) => {
    const graceMs = graces.get(threshold.signal);
    if (graceMs === undefined)
      throw new Error(`grace period must be specified for the soft eviction threshold ${threshold.signal}`);
    return { ...threshold, graceMs };
  });
  return [...thresholdsOf(hard), ...softOnes].map((threshold) => {
    const reclaim = minimumReclaim[threshold.signal];
    return reclaim === undefined ? threshold : { ...threshold, minimumReclaim: reclaim };
  });
}

/** The amount a text stands for. */
export const amountOf = (text: string, capacity: number): number =>
  text.endsWith('%') ? (capacity * Number.parseFloat(text)) / 100 : parseQuantity(text).value();

/** Thresholds below which the node is now; `withReclaim`: below the threshold with its minimum to reclaim on top. */
export const thresholdsMet = (thresholds: readonly Threshold[], observations: Observations, withReclaim = false): Threshold[] =>
  thresholds.filter(({ signal, value, minimumReclaim }) => {
    const seen = observations[signal];
    if (seen === undefined) return false;
    const more = withReclaim && minimumReclaim !== undefined ? amountOf(minimumReclaim, seen.capacity) : 0;
    return seen.available < amountOf(value, seen.capacity) + more;
  });

/** What earlier observations have shown. */
export interface PressureMemory {
  /** Since when each threshold has been met without a break. */
  sinceMs: ReadonlyMap<Threshold, number>;
  /** Thresholds that were acted on and whose minimum to reclaim may not be there yet. */
  acting: readonly Threshold[];
  /** When each kind of pressure was last seen. */
  seenAtMs: Readonly<Record<PressureKind, number>>;
}

export const noPressureMemory: PressureMemory = {
  sinceMs: new Map(),
  acting: [],
  seenAtMs: { memory: -Infinity, disk: -Infinity, pid: -Infinity },
};

/** One look at the node. `due`: thresholds whose grace is over, memory before all else. */
export function judge(
  memory: PressureMemory,
  thresholds: readonly Threshold[],
  observations: Observations,
  now: number,
): { memory: PressureMemory; due: Threshold[] } {
  const met = new Set([...thresholdsMet(thresholds, observations), ...thresholdsMet(memory.acting, observations, true)]);
  const sinceMs = new Map([...met].map((threshold) => [threshold, memory.sinceMs.get(threshold) ?? now]));
  const seenAtMs = { ...memory.seenAtMs };
  for (const { signal } of met) seenAtMs[pressureKind(signal)] = now;
  const due = [...met].filter((threshold) => now - (sinceMs.get(threshold) ?? now) >= (threshold.graceMs ?? 0));
  const first = (signal: string): number => (signal === 'memory.available' ? 0 : 1);
  due.sort((a, b) => first(a.signal) - first(b.signal));
  return { memory: { sinceMs, acting: due, seenAtMs }, due };
}

/** Pressure is reported for a while after it was last seen. */
export function pressureAt({ seenAtMs }: PressureMemory, now: number, transitionMs: number): Pressure {
  const since = now - transitionMs;
  return { memory: seenAtMs.memory > since, disk: seenAtMs.disk > since, pid: seenAtMs.pid > since };
}
