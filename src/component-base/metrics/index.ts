// The room's metrics part; reached through #component-base.
export { type RestClientMetrics, restClientMetrics, type WorkQueueMetrics, workQueueMetrics } from './client-metrics.ts';
export { buildInfo } from './build-info.ts';
export type { LabelValue, MetricOptions } from './families.ts';
export { processMetrics, processStart } from './process-metrics.ts';
export {
  type Counter,
  createMetrics,
  defaultBuckets,
  exponentialBuckets,
  type Gauge,
  type GaugeOptions,
  type Histogram,
  type HistogramOptions,
  linearBuckets,
  type Metrics,
} from './metrics.ts';
