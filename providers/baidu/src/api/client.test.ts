// Signed calls over HTTP against the local server: pages, limits, what failures mean.
import { type ProviderMetrics, retryAfterOf } from 'sagong/cloud-provider';
import { callErrorOf } from 'sagong/cloud-provider/kit';
import { rejection } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type TestWorld } from '../../test-server/world.ts';
import { baiduApi } from './baidu.ts';
import { createClient } from './client.ts';
import { isQuota, isThere, isTokenUsed } from './errors.ts';
import type { Credentials } from './sign.ts';

let world: TestWorld;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.server.close());

const open = (more: { metrics?: ProviderMetrics; credentials?: Credentials } = {}) => {
  const { credentials = world.server.credentials[0], metrics } = more;
  const { url } = world.server;
  return baiduApi(
    createClient({
      endpoints: { blb: url, eip: url, vpc: url, bcc: url },
      credentials: () => Promise.resolve(credentials),
      userAgent: 'test',
      timeoutMs: 30_000,
      clock: world.clock,
      ...(metrics && { metrics }),
    }),
  );
};
const request = { name: 'web', desc: 'd e/s+c', vpcId: 'vpc-k8s', subnetId: 'sbn-nodes', tags: [] };

describe('a call', () => {
  it('is signed, with a key or with temporary credentials of STS', async () => {
    expect(await open().balancers({ name: "a b/c*'(ü)" })).toEqual([]);
    expect(await open({ credentials: world.server.credentials[1] }).eips()).toEqual([]);
  });
  it.each([
    [{ accessKeyId: 'nobody', secretAccessKey: 'test-secret' }, '[403 InvalidAccessKeyId]'],
    [{ accessKeyId: 'test-key', secretAccessKey: 'wrong' }, '[400 SignatureDoesNotMatch]'],
    [{ accessKeyId: 'sts-key', secretAccessKey: 'sts-secret' }, '[403 InvalidSessionToken]'],
  ])('with %j is refused: %s', async (credentials, expected) => {
    expect((await rejection(open({ credentials }).eips())).message).toContain(`ListEips: ${expected}`);
  });
  it('is seen once under one token, however often it comes', async () => {
    const api = open();
    world.server.faults.add({ method: 'POST', drop: true, afterwards: true });
    const first = await api.createBalancer(request, 'token-1');
    expect(await api.createBalancer(request, 'token-1')).toEqual(first);
    expect(world.server.account.of('balancer')).toHaveLength(1);
    expect(isTokenUsed(await rejection(api.createBalancer({ ...request, name: 'other' }, 'token-1')))).toBe(true);
    world.clock.skip(86_400_001);
    expect(await api.createBalancer(request, 'token-1')).not.toEqual(first);
  });
});

describe('lists', () => {
  it('are read over all their pages', async () => {
    for (let number = 0; number < 1_001; number++) world.server.account.addInstance(`node-${number}`);
    world.server.requests.length = 0;
    const all = await open().instances({ vpcId: 'vpc-k8s' });
    expect(new Set(all.map(({ id }) => id)).size).toBe(1_001);
    expect(world.server.requests.map(({ url }) => url.searchParams.get('marker'))).toEqual([null, expect.stringMatching(/^i-/)]);
  });
  it('keep within the rate of the account', async () => {
    const api = open();
    const beforeMs = world.clock.monotonic();
    for (let number = 0; number < 100; number++) await api.eips();
    expect(world.clock.monotonic() - beforeMs).toBeGreaterThan(2_500);
  });
});

describe('a failure', () => {
  it('names the call, and says what the API says', async () => {
    world.server.faults.add({ status: 403, code: 'AccessDenied', message: 'Access denied.' });
    const error = await rejection(open().eips());
    expect(error.message).toBe('ListEips: [403 AccessDenied] Access denied. (request request-1)');
    expect(callErrorOf(error)).toMatchObject({ kind: 'refused', vendorCode: 'AccessDenied', requestId: 'request-1' });
  });
  it('of throttling is waited for, and throttling that lasts is left to the controller', async () => {
    const { faults } = world.server;
    faults.add({ status: 400, code: 'RequestRateLimitExceeded', times: 2 });
    expect(await open().eips()).toEqual([]);
    faults.add({ status: 429, headers: { 'retry-after': '90' } });
    expect(retryAfterOf(await rejection(open().eips()))).toBe(90_000);
  });
  it.each([
    [404, 'NoSuchObject', 'absent'],
    [400, 'BlbNotFound', 'absent'],
    [409, '', 'conflict'],
    [400, 'EipStatusInvalid', 'conflict'],
    [500, 'NoSuchObject', 'transient'],
    [502, '', 'transient'],
    [400, 'BadRequest', 'refused'],
  ])('of status %i and code %s is %s', async (status, code, kind) => {
    world.server.faults.add({ status, code, times: 9 });
    expect(callErrorOf(await rejection(open().eips()))?.kind).toBe(kind);
  });
  it('says that there is one already, or that there are too many', async () => {
    world.server.faults.add({ status: 409, code: 'ResourceAlreadyExist' });
    expect(isThere(await rejection(open().eips()))).toBe(true);
    world.server.faults.add({ status: 413, code: 'QuotaExceeded' });
    expect(isQuota(await rejection(open().eips()))).toBe(true);
  });
  it('of a proxy in between is told, too', async () => {
    const answer = rejection(
      baiduApi(
        createClient({
          endpoints: {
            blb: 'http://127.0.0.1:1',
            eip: 'http://127.0.0.1:1',
            vpc: 'http://127.0.0.1:1',
            bcc: 'http://127.0.0.1:1',
          },
          credentials: () => Promise.resolve(world.server.credentials[0]),
          userAgent: 'test',
          timeoutMs: 30_000,
          clock: world.clock,
        }),
      ).eips(),
    );
    expect(callErrorOf(await answer)?.kind).toBe('transient');
  });
});

it('what is deleted already is as good as deleted, and what does not exist is undefined', async () => {
  const api = open();
  await Promise.all([api.deleteBalancer('lb-1'), api.deleteEip('1.2.3.4'), api.deleteRoute('rr-1'), api.deleteGroup('g-1')]);
  expect([await api.balancer('lb-1'), await api.eip('1.2.3.4'), await api.instance('i-1'), await api.subnet('sbn-1')]).toEqual(
    Array.from({ length: 4 }),
  );
});

it('calls are counted by the vendor’s names', async () => {
  const counted: string[] = [];
  const metrics: ProviderMetrics = {
    counter: ({ name }) => ({ inc: (_by, ...values) => void counted.push([name, ...values].join(' ')) }),
    histogram: ({ name }) => ({ observe: (_value, ...values) => void counted.push([name, ...values].join(' ')) }),
  };
  const api = open({ metrics });
  await api.balancers();
  world.server.faults.add({ status: 403, code: 'AccessDenied' });
  await rejection(api.balancer('lb-1'));
  expect(counted).toEqual([
    'cloudprovider_cce_api_request_duration_seconds DescribeLoadBalancers',
    'cloudprovider_cce_api_request_duration_seconds DescribeLoadBalancerDetail',
    'cloudprovider_cce_api_request_errors DescribeLoadBalancerDetail',
  ]);
});
