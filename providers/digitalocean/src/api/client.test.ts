// The client against what the API documents: pages, refusals, limits. And the local server against the reference, read without the client.
import { retryAfterOf } from 'sagong/cloud-provider';
import { rejection, seededRng, startVendorServer } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { pathOf, startTestServer, type TestServer, type TestServerOptions } from '../../test-server/index.ts';
import { afterTries, eventually, readSdk, sdkTimeoutMs, testClock } from '../../test-server/world.ts';
import { connectApi, type DigitalOceanApi } from './client.ts';
import { throttledMs } from './errors.ts';

beforeAll(readSdk, sdkTimeoutMs);

let server: TestServer;
const clock = testClock();
afterEach(() => server.close());
const start = async (options: TestServerOptions = {}, accessToken = 'dop_v1_test'): Promise<DigitalOceanApi> => {
  server = await startTestServer({ now: () => clock.now(), ...options });
  return connectApi({ accessToken, apiUrl: server.url, clock });
};
describe('the client', () => {
  it('reads lists to their last page', async () => {
    const api = await start();
    for (let number = 0; number < 101; number++) server.account.addDroplet(`d-${number}`);
    expect(await api.droplets()).toHaveLength(101);
    expect(server.requests.map(pathOf)).toEqual([
      '/v2/droplets?page=1&per_page=50',
      '/v2/droplets?page=2&per_page=50',
      '/v2/droplets?page=3&per_page=50',
    ]);
  });
  it('takes no list for whole that does not say so', async () => {
    const answers = [{ regions: [] }, { regions: [], meta: { total: 3 } }, { regions: [], meta: { total: 0 } }];
    server = await startTestServer();
    const other = await startVendorServer({
      rng: seededRng(1),
      refusalAnswer: () => ({ body: {} }),
      routes: { 'GET /v2/regions': () => ({ body: answers.shift() }) },
    });
    onTestFinished(() => other.close());
    const api = await connectApi({ accessToken: 'dop_v1_test', apiUrl: other.url, clock });
    await expect(api.regions()).rejects.toThrow('the answer has no count "total"');
    await expect(api.regions()).rejects.toThrow('the list of regions has a total of more, and no links');
    expect(await api.regions()).toEqual([]);
  });
  it('takes missing things for missing, and nothing else', async () => {
    const api = await start();
    expect(await api.droplet(1)).toBeUndefined();
    expect(await api.loadBalancer('nowhere')).toBeUndefined();
    await api.deleteLoadBalancer('nowhere');
    expect(await api.tagLoadBalancers('k8s:c', [])).toBe(false);
    server.fail({ status: 503, message: 'maintenance', times: 4 });
    expect((await rejection(afterTries(clock, api.droplet(1)))).message).toMatch(
      /^Droplets\.Get: GET http:\S+\/v2\/droplets\/1: 503 \(request ".+"\) maintenance$/,
    );
  });
  it.each([{ status: 503 }, { drop: true }])('asks again after a failure that may pass: %j', async (fault) => {
    const api = await start();
    const { id } = server.account.addDroplet('d-1');
    server.fail({ ...fault, path: /droplets/, times: 2 });
    expect(await afterTries(clock, api.droplet(id))).toMatchObject({ id });
    expect(server.requests).toHaveLength(3);
  });
  it('sends no creation twice whose answer is lost, and a deletion until it is answered', async () => {
    const api = await start();
    const rule = { entry_protocol: 'tcp', entry_port: 80, target_protocol: 'tcp', target_port: 80 } as const;
    const wanted = { name: 'lb', region: 'nyc3', type: 'REGIONAL_NETWORK', network: 'EXTERNAL', forwarding_rules: [rule] };
    server.fail({ method: 'POST', drop: true, afterwards: true });
    await rejection(afterTries(clock, api.createLoadBalancer(wanted as never)));
    const made = await api.loadBalancers();
    expect(made).toMatchObject([{ name: 'lb' }]);
    server.fail({ method: 'DELETE', drop: true, afterwards: true });
    await afterTries(clock, api.deleteLoadBalancer(made[0]?.id ?? ''));
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE', 'DELETE']);
  });
  it('says what is wrong with its token', async () => {
    const api = await start({}, 'stolen');
    expect((await rejection(api.regions())).message).toContain('401');
    expect((await rejection(api.regions())).message).toContain('Unable to authenticate you.');
  });
  it('stops with its caller', async () => {
    const api = await start();
    expect((await rejection(api.regions(AbortSignal.abort(new Error('the lease is lost'))))).message).toContain(
      'the lease is lost',
    );
  });
  it('comes again when a throttling API allows it', async () => {
    const api = await start({ rateLimits: { perHour: 100, perMinute: 2 } });
    await api.regions();
    clock.advance(10_000);
    await api.regions();
    const error = await rejection(api.regions());
    expect(error.message).toContain('API rate limit exceeded.');
    expect(retryAfterOf(error)).toBe(50_000);
    clock.advance(50_000);
    await api.regions();
  });
  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a moment', { 'ratelimit-reset': '1090' }, 90_000],
    ['seconds before a moment', { 'retry-after': '7', 'ratelimit-reset': '1090' }, 7_000],
    ['a moment far away', { 'ratelimit-reset': '4600' }, 300_000],
    ['a moment gone by', { 'ratelimit-reset': '10' }, 1_000],
    ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:16:47 GMT' }, 7_000],
    ['nothing', {}, 60_000],
  ])('waits for %s', async (_name, headers, expected) => {
    await start();
    expect(throttledMs(new Headers(headers), 1_000_000)).toBe(expected);
  });
  it('keeps its requests apart when it is told to', async () => {
    server = await startTestServer();
    const times = testClock(0);
    const api = await connectApi({ accessToken: 'dop_v1_test', apiUrl: server.url, requestsPerSecond: 2, clock: times });
    const passed: number[] = [];
    const asked = [1, 2, 3].map(() => api.certificateNamed('none').then(() => passed.push(times.now())));
    await eventually(() => expect(passed).toEqual([0]));
    times.advance(499);
    expect(server.requests).toHaveLength(1);
    times.advance(1);
    await eventually(() => expect(passed).toEqual([0, 500]));
    times.advance(500);
    await Promise.all(asked);
    expect(passed).toEqual([0, 500, 1000]);
  });
});

describe('the local server', () => {
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  it('gives 20 things to a page, and links that lead somewhere', async () => {
    await start();
    for (let number = 0; number < 45; number++) server.account.addDroplet(`d-${number}`);
    const { body } = await get('/v2/droplets');
    expect(body).toMatchObject({ meta: { total: 45 }, links: { pages: { next: `${server.url}/v2/droplets?page=2` } } });
    expect((body as { droplets: unknown[] }).droplets).toHaveLength(20);
    expect((await get('/v2/droplets?page=3')).body).toMatchObject({
      links: { pages: { first: `${server.url}/v2/droplets?page=1`, prev: `${server.url}/v2/droplets?page=2` } },
    });
    expect((await get('/v2/regions')).body).toMatchObject({ links: {}, meta: { total: 4 } });
    expect((await get('/v2/droplets?per_page=201')).status).toBe(422);
  });
  it('refuses with id, message and request id, and names the rate limit', async () => {
    await start();
    const { status, headers, body } = await get('/v2/load_balancers/nowhere');
    expect(status).toBe(404);
    expect(body).toEqual({
      id: 'not_found',
      message: 'The resource you requested could not be found.',
      request_id: expect.any(String),
    });
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['5000', '4999']);
    expect((await get('/v2/load_balancers', { method: 'POST', body: '{' })).body).toMatchObject({ id: 'bad_request' });
    expect((await get('/v2/load_balancers', { method: 'POST', body: '{"name":"x"}' })).body).toMatchObject({
      id: 'unprocessable_entity',
    });
    expect((await get('/v2/load_balancers', { method: 'PATCH', body: '{}' })).status).toBe(405);
  });
  it('sets what a PUT leaves out to its default, and keeps what cannot be changed', async () => {
    await start();
    const rule = { entry_protocol: 'tcp', entry_port: 80, target_protocol: 'tcp', target_port: 80 };
    const wanted = { name: 'lb', region: 'nyc3', type: 'REGIONAL_NETWORK', network_stack: 'DUALSTACK', forwarding_rules: [rule] };
    const made = await get('/v2/load_balancers', {
      method: 'POST',
      body: JSON.stringify({ ...wanted, size_unit: 3, droplet_ids: [] }),
    });
    expect(made).toMatchObject({ status: 202, body: { load_balancer: { status: 'new', ip: '', size_unit: 3 } } });
    const { id } = (made.body as { load_balancer: { id: string } }).load_balancer;
    const put = await get(`/v2/load_balancers/${id}`, {
      method: 'PUT',
      body: JSON.stringify({ ...wanted, type: 'REGIONAL', network_stack: 'IPV4', droplet_ids: [] }),
    });
    expect(put.body).toMatchObject({
      load_balancer: { id, status: 'active', size_unit: 1, type: 'REGIONAL_NETWORK', network_stack: 'DUALSTACK' },
    });
    const second = await get('/v2/load_balancers', { method: 'POST', body: JSON.stringify({ ...wanted, droplet_ids: [] }) });
    expect(second.status).toBe(422);
    expect((await get(`/v2/load_balancers/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await get(`/v2/load_balancers/${id}`, { method: 'DELETE' })).status).toBe(404);
  });
});
