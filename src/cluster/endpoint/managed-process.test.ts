import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CloudClient } from '#cloud/client';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import { ManagedProcess } from './managed-process.ts';
import { clusterTag, controlPlanePlace, ensureNetwork, roleTag } from '../cloud/network.ts';

const clock = systemClock();
let cloud: MemoryCloud;
let service: CloudClient;
beforeEach(async () => {
  cloud = await startMemoryCloud(
    {
      region: 'r',
      zones: ['r-a', 'r-b'],
      publicCidr: '198.18.0.0/24',
      drivers: [memoryMachines({ clock }), memoryLoadBalancers()],
    },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
  service = cloud.client({ id: 'provider', role: 'service' });
});
afterEach(() => cloud.close());

it.each(['pending', 'stopping', 'running'] as const)(
  'a start goes on with the instance that an earlier one has left %s',
  async (state) => {
    const network = await ensureNetwork(service, { cluster: 'c', internet: true, provider: true });
    const { address } = controlPlanePlace(0, network.subnets.length, network.vpc.cidr);
    const left = await service.runInstance({
      ...{ name: 'control-plane', subnetId: network.subnets[0]?.id ?? '', privateAddress: address },
      tags: { [clusterTag]: 'c', [roleTag]: 'control-plane' },
    });
    const isRunning = async () => (await service.getInstance({ instanceId: left.id })).state === 'running';
    if (state !== 'pending') while (!(await isRunning())) await clock.sleep(1);
    if (state === 'stopping') await service.stopInstance({ instanceId: left.id });
    const plane = new ManagedProcess({ cluster: 'c', dataDir: '/data', clock, service: () => service });
    const { targets } = await plane.open(network, network, []);
    expect(targets.map(({ instanceId }) => instanceId)).toEqual([left.id]);
    expect(await isRunning()).toBe(true);
  },
);
