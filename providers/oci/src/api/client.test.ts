import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MetricFamily } from 'sagong/cloud-provider';
import { failedWith } from 'sagong/cloud-provider/kit';
import { noRates } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compartment } from '../../test-server/index.ts';
import { configFor, openWorld, type TestWorld } from '../../test-server/world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.server.close());
const node = (name: string, providerID = '') => ({ metadata: { name }, spec: { providerID } });

it('lists are read over all their pages', async () => {
  const cloud = await world.open();
  for (let number = 0; number < 250; number++) world.server.account.addInstance(`node-${number}`);
  const { id } = world.server.account.addInstance('last');
  world.server.faults.add({ path: `/20160918/instances/${id}`, status: 404, code: 'NotAuthorizedOrNotFound' });
  expect(await cloud.instancesV2?.instanceExists(node('last', id))).toBe(true);
  const pages = world.server.requests.filter(({ url }) => url.pathname === '/20160918/instances');
  expect(pages.map(({ url }) => url.searchParams.get('compartmentId'))).toEqual([compartment, compartment, compartment]);
});

it('calls are counted by upstream’s names', async () => {
  const counts: string[] = [];
  const families = {
    counter: ({ name }: MetricFamily) => ({
      inc: (by = 1, ...labels: string[]) => void counts.push(`${name} ${labels.join(' ')} ${by}`),
    }),
    histogram: ({ name }: MetricFamily) => ({
      observe: (_value: number, ...labels: string[]) => void counts.push(`${name} ${labels.join(' ')}`),
    }),
  };
  const cloud = await world.open({ metrics: families });
  const { id } = world.server.account.addInstance('node-a');
  world.server.faults.add({ status: 503 });
  await cloud.instancesV2?.instanceExists(node('node-a', id));
  expect(counts).toEqual([
    'oci_requests_total instance 503 get 1',
    'cloudprovider_oci_api_request_duration_seconds instance.get',
    'oci_requests_total instance 200 get 1',
  ]);
});

it('calls keep within the rates of the configuration', async () => {
  const rateLimiter = { rateLimitQPSRead: 2, rateLimitBucketRead: 1 };
  const cloud = await world.open({ config: { ...configFor(world.server), rateLimiter } });
  const { id } = world.server.account.addInstance('node-a');
  const before = world.clock.monotonic();
  for (let count = 0; count < 5; count++) await cloud.instancesV2?.instanceExists(node('node-a', id));
  expect(world.clock.monotonic() - before).toBeGreaterThanOrEqual(2_000);
});

it('calls end with their caller, and say nothing on the console when they fail', async () => {
  const said: unknown[] = [];
  const { warn } = console;
  console.warn = (...words: unknown[]) => void said.push(words);
  try {
    const cloud = await world.open();
    world.server.faults.rates = { ...noRates, error: 1 };
    await expect(cloud.instancesV2?.instanceExists(node('node-a'))).rejects.toThrow('instance.list: 503');
    const gone = AbortSignal.abort(new Error('the manager stops'));
    await expect(cloud.instancesV2?.instanceExists(node('node-a'), gone)).rejects.toThrow('the manager stops');
    expect(said).toEqual([]);
  } finally {
    console.warn = warn;
  }
});

it('an answer that is not the API’s is a failure in words, and names no secret', async () => {
  const proxy = createServer(
    (_request, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
  );
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const cloud = await world.open({ url });
    const error = await cloud.instancesV2?.instanceExists(node('node-a')).catch((thrown: unknown) => thrown);
    expect(failedWith(error, 'transient')).toBe(true);
    expect(String(error)).toContain('<h1>Bad Gateway</h1>');
    expect(String(error)).not.toContain('Signature');
  } finally {
    proxy.close();
  }
});
