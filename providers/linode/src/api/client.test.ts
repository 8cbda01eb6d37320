// Calls over HTTP against the local server: pages, filters, limits, what failures mean.
import type { ProviderMetrics } from 'sagong/cloud-provider';
import { isInstanceNotFound, retryAfterOf } from 'sagong/cloud-provider';
import { callErrorOf } from 'sagong/cloud-provider/kit';
import { rejection, seededRng, startVendorServer } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openWorld, region, type TestWorld } from '../../test-server/world.ts';
import { createClient } from './client.ts';
import { linodeApi } from './linode.ts';
import { isAddressRefused, isBusy, isLabelTaken, isRefused } from './errors.ts';

let world: TestWorld;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.server.close());

const open = (more: { metrics?: ProviderMetrics; token?: string; timeoutMs?: number; url?: string } = {}) => {
  const { timeoutMs = 30_000, token = world.server.token, url = world.server.endpoint, metrics } = more;
  const options = { url, token: () => Promise.resolve(token), timeoutMs, clock: world.clock };
  return linodeApi(createClient({ ...options, ...(metrics && { metrics }) }));
};
describe('lists', () => {
  it('are read over all their pages', async () => {
    for (let number = 0; number < 1_001; number++) world.server.account.addLinode(`node-${number}`, region);
    const all = await open().linodes();
    expect(new Set(all.map(({ id }) => id)).size).toBe(1_001);
    expect(world.server.requests.map(({ url }) => url.search)).toEqual([1, 2, 3].map((page) => `?page=${page}&page_size=500`));
  });
  it('are filtered by the API', async () => {
    for (const name of ['node-a', 'node-b']) world.server.account.addLinode(name, region, { tags: [`of-${name}`] });
    expect((await open().linodes({ tags: { '+contains': 'of-node-b' } })).map(({ label }) => label)).toEqual(['node-b']);
    expect((await open().linodes({ '+or': [{ label: 'node-a' }, { label: 'none' }] })).map(({ label }) => label)).toEqual([
      'node-a',
    ]);
    await expect(open().linodes({ status: 'running' })).rejects.toThrow(
      'ListInstances: [400] [X-Filter] Cannot filter on status',
    );
  });
  it('without a count of their pages are not taken for whole', async () => {
    const server = await startVendorServer({
      rng: seededRng(1),
      refusalAnswer: () => ({ body: {} }),
      routes: { 'GET /linode/instances': () => ({ body: { data: [] } }) },
    });
    onTestFinished(() => server.close());
    await expect(open({ url: server.url }).linodes()).rejects.toThrow('the answer has no count "pages"');
  });
  it('keep within the rate that the API has for lists', async () => {
    const api = open();
    const beforeMs = world.clock.monotonic();
    for (let number = 0; number < 60; number++) await api.vpcs();
    expect(world.clock.monotonic() - beforeMs).toBeGreaterThan(8_000);
  });
});

describe('a failure', () => {
  it('names the call, and says what the API says', async () => {
    const error = await rejection(open({ token: 'wrong' }).profile());
    expect(error.message).toBe('GetProfile: [401] Invalid Token');
    expect([callErrorOf(error)?.kind, isRefused(error), isInstanceNotFound(error)]).toEqual(['refused', true, false]);
  });
  it('of throttling is waited for, and long throttling is left to the controller', async () => {
    const { faults } = world.server;
    faults.add({ status: 429, headers: { 'retry-after': '7' } });
    const beforeMs = world.clock.monotonic();
    await open().profile();
    expect(world.clock.monotonic() - beforeMs).toBeGreaterThanOrEqual(7_000);
    faults.add({ status: 429, headers: { 'retry-after': '90' } });
    const error = await rejection(open().profile());
    expect([retryAfterOf(error), error.message]).toEqual([90_000, 'GetProfile: [429] Too many requests']);
  });
  it('of a Linode with a job under way passes', async () => {
    world.server.faults.add({ status: 400, message: 'Linode busy.', times: 2 });
    await open().profile();
    world.server.faults.add({ status: 400, message: 'Linode busy.', times: 20 });
    expect(isBusy(await rejection(open().profile()))).toBe(true);
  });
  it('is told by the field that it is about', async () => {
    const api = open();
    const rules = { inbound: [], outbound: [], inbound_policy: 'DROP', outbound_policy: 'ACCEPT' } as const;
    await api.createFirewall({ label: 'mine', tags: [], rules: { ...rules, inbound: [], outbound: [] } });
    const taken = await rejection(
      api.createFirewall({ label: 'mine', tags: [], rules: { ...rules, inbound: [], outbound: [] } }),
    );
    expect([isLabelTaken(taken), isAddressRefused(taken)]).toEqual([true, false]);
    world.server.faults.add({ status: 400, code: 'configs[0].nodes[3].address', message: 'no' });
    expect(isAddressRefused(await rejection(api.profile()))).toBe(true);
  });
  it('of a proxy in between is told, too', async () => {
    world.server.faults.add({ status: 502, times: 9, message: 'x'.repeat(10) });
    expect((await rejection(open().profile())).message).toContain('GetProfile: [502]');
  });
});

it('what is deleted already is as good as deleted, and what does not exist is undefined', async () => {
  const api = open();
  await api.deleteBalancer(1);
  expect([await api.balancer(1), await api.linode(1), await api.vpc(1)]).toEqual([undefined, undefined, undefined]);
});

it('calls are counted by upstream’s names', async () => {
  const counted: string[] = [];
  const metrics: ProviderMetrics = {
    counter: ({ name, labels }) => ({ inc: (_by, ...values) => void counted.push([name, labels, values].join(' ')) }),
    histogram: () => ({ observe() {} }),
  };
  const api = open({ metrics });
  await api.balancers();
  world.server.faults.add({ status: 403, message: 'no' });
  await rejection(api.balancer(1));
  expect(counted).toEqual([
    'ccm_linode_client_requests_total method,result ListNodeBalancers,ok',
    'ccm_linode_client_requests_total method,result GetNodeBalancer,error',
  ]);
});
