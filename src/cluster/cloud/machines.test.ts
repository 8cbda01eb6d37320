import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CloudClient } from '#cloud/client';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import type { ClusterPki } from '../certificates/certificates.ts';
import { Machines } from './machines.ts';
import { clusterTag, ensureNetwork } from './network.ts';

const clock = systemClock();
let memory: MemoryCloud;
let cloud: CloudClient;
let machines: Machines;
beforeEach(async () => {
  const drivers = [memoryMachines({ clock }), memoryLoadBalancers()];
  memory = await startMemoryCloud(
    { region: 'r', zones: ['r-a', 'r-b'], publicCidr: '198.18.0.0/24', drivers },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
  cloud = memory.client({ id: 'customer', role: 'customer' });
  machines = new Machines(cloud, await ensureNetwork(cloud, { cluster: 'c', internet: true }), {
    ...{ cluster: 'c', dataDir: '/nowhere', program: ['/bin/true'], registryMirrors: [], simulated: true },
    server: { host: '127.0.0.1', port: 1 },
    // Instances that are simulated have no disk, and so no certificates.
    pki: {} as ClusterPki,
  });
});
afterEach(() => memory.close());

it('gives each node an address of its own when several are added at once', async () => {
  const names = ['node-1', 'node-2', 'node-3', 'node-4'];
  const added = await Promise.all(names.map((name) => machines.add(name)));
  expect(added.map(({ name }) => name)).toEqual(names);
  expect(new Set(added.map(({ privateAddress }) => privateAddress)).size).toBe(names.length);
});

it('says who has the address where that is no node of the cluster', async () => {
  const first = await machines.add('node-1');
  await cloud.changeTags({ resourceId: first.id, remove: [clusterTag] });
  await expect(machines.add('node-2')).rejects.toThrow(`is in use by instance ${first.id}`);
});
