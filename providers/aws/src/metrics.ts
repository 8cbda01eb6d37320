// What is counted of calls to AWS, with the names of cloud-provider-aws (pkg/providers/v1/aws_metrics.go). As there, times and errors are kept of
// six requests, refused answers of all.
import type { Clock, ProviderMetrics } from 'sagong/cloud-provider';

/** Values of the label `request`, by operation. */
const requests: Readonly<Record<string, string>> = {
  DescribeInstances: 'describe_instance',
  DescribeNetworkInterfaces: 'describe_network_interfaces',
  DescribeSecurityGroups: 'describe_security_groups',
  DescribeRouteTables: 'describe_route_tables',
  CreateTags: 'create_tags',
  DeleteTags: 'delete_tags',
};

interface Paged {
  NextToken?: string | undefined;
}

export interface ApiMetrics {
  /** Makes a call and notes how it went. The pages of one answer are one call. */
  of<T>(operation: string, input: Paged, call: () => Promise<T>): Promise<T>;
  /** AWS refused a request for coming too soon. */
  throttled(operation: string): void;
  /** AWS answered a request with this status. */
  answered(service: string, operation: string, status: number): void;
}

const nobody: ProviderMetrics = { counter: () => ({ inc() {} }), histogram: () => ({ observe() {} }) };

export function apiMetrics(metrics: ProviderMetrics = nobody, clock: Pick<Clock, 'monotonic'>): ApiMetrics {
  const durations = metrics.histogram({
    name: 'cloudprovider_aws_api_request_duration_seconds',
    help: 'Latency of AWS API calls',
    labels: ['request'],
  });
  const errors = metrics.counter({ name: 'cloudprovider_aws_api_request_errors', help: 'AWS API errors', labels: ['request'] });
  const throttles = metrics.counter({
    name: 'cloudprovider_aws_api_throttled_requests_total',
    help: 'AWS API throttled requests',
    labels: ['operation_name'],
  });
  const statuses = metrics.counter({
    name: 'cloudprovider_aws_api_response_status_total',
    help: 'AWS API response status code counts',
    labels: ['service', 'operation', 'status_code'],
  });
  /** When answers that go on were first asked for, by the token of their next page. */
  const unfinished = new Map<string, number>();

  return {
    async of(operation, { NextToken }, call) {
      const request = requests[operation];
      if (request === undefined) return call();
      const sinceMs = unfinished.get(NextToken ?? '') ?? clock.monotonic();
      unfinished.delete(NextToken ?? '');
      try {
        const answer = await call();
        const next = (answer as Paged | undefined)?.NextToken;
        if (next) unfinished.set(next, sinceMs);
        else durations.observe((clock.monotonic() - sinceMs) / 1000, request);
        return answer;
      } catch (error) {
        errors.inc(1, request);
        throw error;
      }
    },
    throttled: (operation) => throttles.inc(1, operation),
    answered(service, operation, status) {
      if (status >= 400) statuses.inc(1, service, operation, String(status));
    },
  };
}
