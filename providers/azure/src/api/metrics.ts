// Metrics of calls and of whole operations, by the names and labels of cloud-provider-azure (pkg/metrics/azure_metrics.go).
import type { Clock, ProviderMetrics } from 'sagong/cloud-provider';
import type { CallError, CallObserver, Failure } from 'sagong/cloud-provider/kit';
import type { RequestName } from './requests.ts';

const labels = ['request', 'resource_group', 'subscription_id', 'source'];
const callBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600, 1200];
const operationBuckets = [0.1, 0.2, 0.5, 1, 5, 10, 15, 20, 30, 40, 50, 60, 100, 200, 300, 600, 1200];
const nobody: ProviderMetrics = { counter: () => ({ inc() {} }), histogram: () => ({ observe() {} }) };

/** Notes calls, which are told apart by the key that `keyOf` gives them. */
export function createCallMetrics(metrics: ProviderMetrics = nobody): { observer(name: RequestName): CallObserver } {
  const name = (what: string): string => `cloudprovider_azure_api_request_${what}`;
  const durations = metrics.histogram({
    name: name('duration_seconds'),
    help: 'Latency of an Azure API call',
    labels,
    buckets: callBuckets,
  });
  const errors = metrics.counter({
    name: name('errors'),
    help: 'Number of errors for an Azure API call',
    labels: [...labels, 'code'],
  });
  const throttled = metrics.counter({ name: name('throttled_count'), help: 'Number of throttled Azure API calls', labels });
  return {
    observer({ metric, group, subscription }) {
      const values = [metric, group, subscription, ''];
      return {
        failed(_call: string, { kind }: Failure) {
          if (kind === 'throttled') throttled.inc(1, ...values);
        },
        ended(_call: string, durationMs: number, failure: CallError | undefined) {
          durations.observe(durationMs / 1000, ...values);
          if (failure) errors.inc(1, ...values, failure.vendorCode ?? String(failure.status ?? ''));
        },
      };
    },
  };
}

/** `request` is `services_ensure_loadbalancer`; `source` is the Service or Node. */
export type ObserveOperation = <T>(request: string, source: string, work: () => Promise<T>) => Promise<T>;

export interface OperationMetricsOptions {
  metrics: ProviderMetrics | undefined;
  clock: Pick<Clock, 'monotonic'>;
  group: string;
  subscription: string;
}

export function createOperationMetrics({
  metrics = nobody,
  clock,
  group,
  subscription,
}: OperationMetricsOptions): ObserveOperation {
  const name = (what: string): string => `cloudprovider_azure_op_${what}`;
  const durations = metrics.histogram({
    name: name('duration_seconds'),
    help: 'Latency of an Azure service operation',
    labels,
    buckets: operationBuckets,
  });
  const failures = metrics.counter({ name: name('failure_count'), help: 'Number of failed Azure service operations', labels });
  return async (request, source, work) => {
    const values = [request, group.toLowerCase(), subscription, source];
    const startedMs = clock.monotonic();
    try {
      return await work();
    } catch (error) {
      failures.inc(1, ...values);
      throw error;
    } finally {
      durations.observe((clock.monotonic() - startedMs) / 1000, ...values);
    }
  };
}
