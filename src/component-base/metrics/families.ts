// Metric families whose samples are plain numbers: recording is an addition, and labels are looked up once and kept as a child.
// The text is written by prom-client's registry, which asks each family for its samples only when somebody scrapes.

export type LabelValue = string | number | boolean;

export interface MetricOptions {
  /** Upstream's full name, e.g. `apiserver_request_total`. */
  name: string;
  help: string;
  labels?: readonly string[];
}

/** One line of what /metrics shows. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
  metricName?: string;
}

export interface FamilySnapshot {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  values: Sample[];
  aggregator: 'sum';
}

const separator = '\u0000';

/** Children by label values. Values beyond the declared labels are a programmer error. */
export class ChildTable<Child> {
  readonly labelNames: readonly string[];
  readonly children = new Map<string, { labels: Record<string, string>; child: Child }>();
  readonly #create: () => Child;
  readonly #name: string;

  constructor(options: MetricOptions, create: () => Child) {
    this.#name = options.name;
    this.labelNames = options.labels ?? [];
    this.#create = create;
    // Upstream exposes families without labels from the start, at zero.
    if (this.labelNames.length === 0) this.child([]);
  }

  child(values: readonly LabelValue[]): Child {
    const key = values.length === 1 ? String(values[0]) : values.join(separator);
    const known = this.children.get(key);
    if (known !== undefined) return known.child;
    if (values.length !== this.labelNames.length) {
      throw new Error(`metric ${this.#name}: ${values.length} label values for labels [${this.labelNames.join(', ')}]`);
    }
    const labels = Object.fromEntries(this.labelNames.map((label, index) => [label, String(values[index])]));
    const child = this.#create();
    this.children.set(key, { labels, child });
    return child;
  }

  delete(values: readonly LabelValue[]): boolean {
    return this.children.delete(values.length === 1 ? String(values[0]) : values.join(separator));
  }
}

/** A number that goes up (counter) or both ways (gauge). */
export class Cell {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
  dec(by = 1): void {
    this.value -= by;
  }
  set(value: number): void {
    this.value = value;
  }
}

export class HistogramCell {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length).fill(0);
  }

  /** Counts `value` once, in the unit of the metric's name (seconds, bytes). */
  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (this.bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    if (low < this.counts.length) this.counts[low] = (this.counts[low] as number) + 1;
  }

  samples(name: string, labels: Record<string, string>): Sample[] {
    let running = 0;
    const buckets = this.bounds.map((bound, index) => {
      running += this.counts[index] as number;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: running };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.count },
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: this.count },
    ];
  }
}
