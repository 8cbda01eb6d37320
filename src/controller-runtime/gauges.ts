// Gauges of a loop: read from its cache when somebody asks, so that counting costs nothing in between.
import type { Metrics } from '#component-base';
import type { Cache, GaugeDefinition } from './types.ts';

/** Adds the gauges to the registry. A loop for which `isRunning` is false shows no values. */
export function exposeGauges(
  definitions: readonly GaugeDefinition[],
  metrics: Metrics,
  cache: Cache,
  isRunning: () => boolean,
): void {
  for (const { name, help, labels, read } of definitions) {
    let shown: (readonly string[])[] = [];
    metrics.gauge({
      name,
      help,
      labels,
      collect(gauge) {
        for (const values of shown) gauge.remove(...values);
        const samples = isRunning() ? [...read(cache)] : [];
        for (const sample of samples) gauge.set(sample.value, ...sample.labels);
        shown = samples.map((sample) => sample.labels);
      },
    });
  }
}
