import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CloudClient } from '#cloud/client';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import { clusterTag, ensureNetwork } from './network.ts';
import { runAt } from './run-at.ts';

const clock = systemClock();
let memory: MemoryCloud;
let cloud: CloudClient;
beforeEach(async () => {
  const drivers = [memoryMachines({ clock }), memoryLoadBalancers()];
  memory = await startMemoryCloud(
    { region: 'r', zones: ['r-a'], publicCidr: '198.18.0.0/24', drivers },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
  cloud = memory.client({ id: 'customer', role: 'customer' });
});
afterEach(() => memory.close());

it('says which instance has the address of a node, and what makes it the node again', async () => {
  const { subnets } = await ensureNetwork(cloud, { cluster: 'c', internet: true });
  const asked = { name: 'c-node-1', subnetId: subnets[0]?.id ?? '', privateAddress: '10.77.0.11' };
  const { id } = await runAt(cloud, { ...asked, tags: { [clusterTag]: 'renamed' } });
  await expect(runAt(cloud, { ...asked, tags: { [clusterTag]: 'c' } })).rejects.toThrow(
    `the address 10.77.0.11 of c-node-1 is in use by instance ${id}: if that is c-node-1, give it back its name and its tag sagong.dev/cluster=c`,
  );
});
it('leaves other refusals as they are', async () => {
  await expect(runAt(cloud, { name: 'n', subnetId: 'subnet-none', privateAddress: '10.77.0.11' })).rejects.toMatchObject({
    status: 404,
  });
});
