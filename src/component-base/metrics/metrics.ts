// A component's metrics registry (k8s.io/component-base/metrics): upstream's names, Prometheus text exposition by prom-client.
import type { Registry } from 'prom-client';
import PromRegistry from 'prom-client/lib/registry.js';
import {
  Cell,
  ChildTable,
  type FamilySnapshot,
  HistogramCell,
  type LabelValue,
  type MetricOptions,
  type Sample,
} from './families.ts';

/** `labels(...)` gives the child for these label values, in declared order; keep it on hot paths. */
export interface Counter {
  labels(...values: LabelValue[]): { inc(by?: number): void };
  /** Adds to the child with these label values. */
  inc(by?: number, ...labelValues: LabelValue[]): void;
  /** Current value; 0 when never touched. */
  value(...labelValues: LabelValue[]): number;
  /** Forgets one child, e.g. of a deleted object. */
  remove(...labelValues: LabelValue[]): void;
}

export interface Gauge {
  labels(...values: LabelValue[]): { set(value: number): void; inc(by?: number): void; dec(by?: number): void };
  set(value: number, ...labelValues: LabelValue[]): void;
  inc(by?: number, ...labelValues: LabelValue[]): void;
  dec(by?: number, ...labelValues: LabelValue[]): void;
  value(...labelValues: LabelValue[]): number;
  /** Forgets one child, e.g. of a deleted object. */
  remove(...labelValues: LabelValue[]): void;
}

export interface Histogram {
  labels(...values: LabelValue[]): { observe(value: number): void };
  observe(value: number, ...labelValues: LabelValue[]): void;
  /** How many values were observed. */
  count(...labelValues: LabelValue[]): number;
  /** Forgets one child, e.g. of a deleted object. */
  remove(...labelValues: LabelValue[]): void;
}

export interface GaugeOptions extends MetricOptions {
  /** Called at each scrape: set the gauge's current values. May be async. */
  collect?: (gauge: Gauge) => void | Promise<void>;
}

export interface CounterOptions extends MetricOptions {
  /** Called at each scrape, for what is counted elsewhere. */
  collect?: (counter: Counter) => void | Promise<void>;
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, in the metric's unit. Default: Prometheus' own. */
  buckets?: readonly number[];
}

export interface Metrics {
  /** Makes a family of counters, or gives the one of that name: a family belongs to its registry, not to the caller. */
  counter(options: CounterOptions): Counter;
  gauge(options: GaugeOptions): Gauge;
  histogram(options: HistogramOptions): Histogram;
  /** The text exposition format, version 0.0.4. */
  expose(): Promise<string>;
  readonly contentType: string;
  /** prom-client's registry, for metrics of other libraries. */
  readonly registry: Registry;
}

/** The bounds of Prometheus' default buckets (prometheus.DefBuckets), in seconds. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** `count` bounds from `start`, each `factor` times the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => start * factor ** index);
/** Makes `count` bounds of a histogram, from `start` on and `width` apart. */
export const linearBuckets = (start: number, width: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => start + width * index);

interface Family {
  name: string;
  get(): Promise<FamilySnapshot>;
}

type Kind = FamilySnapshot['type'];

function family<Child>(
  options: MetricOptions,
  type: Kind,
  table: ChildTable<Child>,
  samples: (child: Child, labels: Record<string, string>) => Sample[],
  collect?: () => void | Promise<void>,
): Family {
  return {
    name: options.name,
    async get() {
      await collect?.();
      const values = [...table.children.values()].flatMap(({ child, labels }) => samples(child, labels));
      return { name: options.name, help: options.help, type, values, aggregator: 'sum' };
    },
  };
}

const cellSamples = (cell: Cell, labels: Record<string, string>): Sample[] => [{ labels, value: cell.value }];

function makeCounter(options: CounterOptions): [Counter, Family] {
  const table = new ChildTable(options, () => new Cell());
  const counter: Counter = {
    labels: (...values) => table.child(values),
    inc: (by = 1, ...values) => table.child(values).inc(by),
    value: (...values) => table.child(values).value,
    remove: (...values) => void table.delete(values),
  };
  return [counter, family(options, 'counter', table, cellSamples, options.collect && (() => options.collect?.(counter)))];
}

function makeGauge(options: GaugeOptions): [Gauge, Family] {
  const table = new ChildTable(options, () => new Cell());
  const gauge: Gauge = {
    labels: (...values) => table.child(values),
    set: (value, ...values) => table.child(values).set(value),
    inc: (by = 1, ...values) => table.child(values).inc(by),
    dec: (by = 1, ...values) => table.child(values).dec(by),
    value: (...values) => table.child(values).value,
    remove: (...values) => void table.delete(values),
  };
  return [gauge, family(options, 'gauge', table, cellSamples, options.collect && (() => options.collect?.(gauge)))];
}

function makeHistogram(options: HistogramOptions): [Histogram, Family] {
  const bounds = options.buckets ?? defaultBuckets;
  const table = new ChildTable(options, () => new HistogramCell(bounds));
  const histogram: Histogram = {
    labels: (...values) => table.child(values),
    observe: (value, ...values) => table.child(values).observe(value),
    count: (...values) => table.child(values).count,
    remove: (...values) => void table.delete(values),
  };
  return [histogram, family(options, 'histogram', table, (cell, labels) => cell.samples(options.name, labels))];
}

/** A new, empty registry. Every component makes its own; nothing is global. */
export function createMetrics(): Metrics {
  const registry: Registry = new PromRegistry();
  const known = new Map<string, { kind: Kind; metric: unknown }>();
  const once = <M>(kind: Kind, name: string, make: () => [M, Family]): M => {
    const existing = known.get(name);
    if (existing !== undefined) {
      if (existing.kind !== kind) throw new Error(`metric ${name} is already registered as a ${existing.kind}`);
      return existing.metric as M;
    }
    const [metric, source] = make();
    known.set(name, { kind, metric });
    // The registry only ever calls `name` and `get` of what it holds; its type asks for a metric class of its own.
    registry.registerMetric(source as unknown as Parameters<Registry['registerMetric']>[0]);
    return metric;
  };
  return {
    counter: (options) => once('counter', options.name, () => makeCounter(options)),
    gauge: (options) => once('gauge', options.name, () => makeGauge(options)),
    histogram: (options) => once('histogram', options.name, () => makeHistogram(options)),
    expose: () => registry.metrics(),
    contentType: PromRegistry.PROMETHEUS_CONTENT_TYPE,
    registry,
  };
}
