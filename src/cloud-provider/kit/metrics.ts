// The two metrics that upstream's providers keep of calls to their cloud (`cloudprovider_gce_api_request_duration_seconds` and `..._errors`).
import type { ProviderMetrics } from '../types.ts';
import type { CallObserver } from './calls.ts';

const nobody: ProviderMetrics = { counter: () => ({ inc() {} }), histogram: () => ({ observe() {} }) };

export interface CallMetricsOptions {
  metrics: ProviderMetrics | undefined;
  /** `gce` for `cloudprovider_gce_api_request_...`. */
  vendor: string;
  /** Names of the labels. Default: `request`. */
  labels?: readonly string[];
  /** Values of the labels for a call; undefined: it is not counted. Default: the name of the call. */
  labelsOf?(call: string): readonly string[] | undefined;
  help?: { duration: string; errors: string };
  buckets?: readonly number[];
}

/** Notes the time of each call, and each one that failed. */
export function callMetrics(options: CallMetricsOptions): CallObserver {
  const { metrics = nobody, vendor, labels = ['request'], labelsOf = (call) => [call], help, buckets } = options;
  const durations = metrics.histogram({
    name: `cloudprovider_${vendor}_api_request_duration_seconds`,
    help: help?.duration ?? `Latency of a ${vendor} API call`,
    labels,
    ...(buckets && { buckets }),
  });
  const errors = metrics.counter({
    name: `cloudprovider_${vendor}_api_request_errors`,
    help: help?.errors ?? `Number of errors for a ${vendor} API call`,
    labels,
  });
  return {
    ended(call, durationMs, failure) {
      const values = labelsOf(call);
      if (!values) return;
      durations.observe(durationMs / 1000, ...values);
      if (failure) errors.inc(1, ...values);
    },
  };
}
