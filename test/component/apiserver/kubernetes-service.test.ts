// The endpoints of the Service `kubernetes` follow the apiservers of a store: those that come, go, and die.
import { afterEach, expect, it } from 'vitest';
import type { Endpoints } from '#api/core/v1';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient } from '#client';
import { systemRng } from '#host';
import { openMemoryStore } from '#store';
import { virtualClock } from '#testing';
import { silentLogger } from '#utils';

const clock = virtualClock();
const store = openMemoryStore({ clock });
const running: KubeApiServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
  await store.close();
});

async function start(address: string): Promise<KubeApiServer> {
  const options = {
    ...defaultOptions(),
    bindAddress: '127.0.0.1',
    securePort: 0,
    advertiseAddress: address,
    advertisePort: 6443,
  };
  const server = await runKubeApiServer(options, { clock, rng: systemRng(), logger: silentLogger, store });
  running.push(server);
  await server.started;
  return server;
}
const addresses = async (server: KubeApiServer): Promise<string[]> => {
  const client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  const resource = { group: '', version: 'v1', resource: 'endpoints' };
  const { subsets = [] } = await client.resource<Endpoints>(resource, 'default').get('kubernetes');
  return subsets.flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip));
};

it('has the address of every server that lives', async () => {
  const first = await start('192.0.2.1');
  const second = await start('192.0.2.2');
  expect(await addresses(first)).toEqual(['192.0.2.1', '192.0.2.2']);
  // A clean end takes the address out at once.
  await second.close();
  expect(await addresses(first)).toEqual(['192.0.2.1']);
  // One that died is missed when its lease runs out.
  const { id } = await store.leaseGrant(15);
  const key = '/registry/masterleases/192.0.2.3';
  await store.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from('{}'), lease: id }] });
  await clock.advance(11_000);
  expect(await addresses(first)).toEqual(['192.0.2.1', '192.0.2.3']);
  await clock.advance(20_000);
  expect(await addresses(first)).toEqual(['192.0.2.1']);
  // Deleted by mistake, both are made again.
  const client = createClient(first.transport({ name: 'admin', groups: ['system:masters'] }));
  for (const resource of ['services', 'endpoints']) {
    await client.resource({ group: '', version: 'v1', resource }, 'default').delete('kubernetes');
    await clock.advance(11_000);
    expect(await addresses(first)).toEqual(['192.0.2.1']);
  }
  // The last one leaves its address.
  await first.close();
  const third = await start('192.0.2.4');
  expect(await addresses(third)).toEqual(['192.0.2.4']);
}, 30_000);
