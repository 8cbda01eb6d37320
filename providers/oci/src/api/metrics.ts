// Metrics of calls to OCI: `oci_requests_total` with upstream's labels (oci-cloud-controller-manager pkg/oci/client/metrics.go), and the kit's
// durations and errors. The name of a call is `<resource>.<verb>`.
import type { ProviderMetrics } from 'sagong/cloud-provider';
import { type CallObserver, callMetrics, type Failure } from 'sagong/cloud-provider/kit';

/** Upstream's code for a request that found no answer. */
const noAnswer = 555;

export function requestMetrics(metrics: ProviderMetrics | undefined): CallObserver {
  const calls = callMetrics({ metrics, vendor: 'oci' });
  const requests = metrics?.counter({
    name: 'oci_requests_total',
    help: 'OCI API requests total.',
    labels: ['resource', 'code', 'verb'],
  });
  const count = (call: string, code: number): void => {
    const [resource = '', verb = ''] = call.split('.');
    requests?.inc(1, resource, String(code), verb);
  };
  return {
    ended(call, durationMs, failure) {
      calls.ended(call, durationMs, failure);
      if (!failure) count(call, 200);
    },
    failed: (call: string, { status }: Failure) => count(call, status ?? noAnswer),
  };
}
