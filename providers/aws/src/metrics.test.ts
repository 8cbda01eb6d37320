import { describe, expect, it } from 'vitest';
import type { ProviderMetrics } from 'sagong/cloud-provider';
import { apiMetrics } from './metrics.ts';

function counted() {
  const lines: string[] = [];
  const metrics: ProviderMetrics = {
    counter: ({ name }) => ({ inc: (by = 1, ...values) => void lines.push(`${name} ${by} ${values.join()}`) }),
    histogram: ({ name }) => ({ observe: (value, ...values) => void lines.push(`${name} ${value} ${values.join()}`) }),
  };
  return { lines, metrics };
}

describe('metrics of calls to AWS', () => {
  it('time the pages of an answer as one call, and count errors', async () => {
    const { lines, metrics } = counted();
    let now = 0;
    const api = apiMetrics(metrics, { monotonic: () => now });
    const page = (input: { NextToken?: string }, answer: object) =>
      api.of('DescribeInstances', input, () => {
        now += 500;
        return Promise.resolve(answer);
      });
    await page({}, { NextToken: 'more' });
    expect(lines).toEqual([]);
    await page({ NextToken: 'more' }, {});
    await api.of('CreateLoadBalancer', {}, () => Promise.resolve({}));
    await expect(api.of('CreateTags', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(lines).toEqual([
      'cloudprovider_aws_api_request_duration_seconds 1 describe_instance',
      'cloudprovider_aws_api_request_errors 1 create_tags',
    ]);
  });
  it('count refused answers by service, operation and status', () => {
    const { lines, metrics } = counted();
    const api = apiMetrics(metrics, { monotonic: () => 0 });
    api.answered('EC2', 'CreateTags', 200);
    api.answered('EC2', 'CreateTags', 503);
    api.throttled('CreateTags');
    expect(lines).toEqual([
      'cloudprovider_aws_api_response_status_total 1 EC2,CreateTags,503',
      'cloudprovider_aws_api_throttled_requests_total 1 CreateTags',
    ]);
  });
  it('may be asked for by nobody', async () => {
    await expect(apiMetrics(undefined, { monotonic: () => 0 }).of('CreateTags', {}, () => Promise.resolve(1))).resolves.toBe(1);
  });
});
