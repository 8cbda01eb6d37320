import { rejection, seededRng, startVendorServer } from 'sagong/cloud-provider/test-server';
import { expect, it, onTestFinished } from 'vitest';
import type { DigitalOceanApi } from './api/client.ts';
import { regionSource } from './region.ts';

it('is that of the metadata service, which leads nowhere else', async () => {
  const answers = [
    { status: 302, headers: { location: '/elsewhere' }, body: 'ams3' },
    { status: 404, body: 'not here' },
    { status: 200, body: 'fra1' },
  ];
  const server = await startVendorServer({
    rng: seededRng(1),
    refusalAnswer: () => ({ body: {} }),
    routes: { 'GET /metadata/v1/region': () => answers.shift() ?? {}, 'GET /elsewhere': () => ({ body: 'nyc1' }) },
  });
  onTestFinished(() => server.close());
  const region = regionSource({} as DigitalOceanApi, { region: '', metadataUrl: server.url });
  expect((await rejection(region())).message).toContain('failed to determine region: fetch failed');
  expect((await rejection(region())).message).toContain('non-200 status code: 404');
  expect(await region()).toBe('fra1');
  expect(await region()).toBe('fra1');
  expect(server.requests).toHaveLength(3);
});
