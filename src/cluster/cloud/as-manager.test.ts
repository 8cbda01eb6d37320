// What a customer makes with the names and tags of a control plane is not taken for one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CloudClient } from '#cloud/client';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import { ControlPlaneMachines } from '../control-planes/machines.ts';
import { asManager } from './as-manager.ts';
import { type ClusterNetwork, clusterTag, endpointAddress, ensureEndpoint, ensureNetwork, roleTag } from './network.ts';

const cluster = 'c';
const bait = { [clusterTag]: cluster, [roleTag]: 'control-plane' };

let cloud: MemoryCloud;
let customer: CloudClient;
let seesAll: CloudClient;
let network: ClusterNetwork;
beforeEach(async () => {
  const clock = systemClock();
  cloud = await startMemoryCloud(
    {
      region: 'r',
      zones: ['r-a', 'r-b', 'r-c'],
      publicCidr: '198.18.0.0/24',
      drivers: [memoryMachines({ clock }), memoryLoadBalancers()],
    },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
  customer = cloud.client({ id: 'customer', role: 'customer' });
  seesAll = cloud.client({ id: 'provider', role: 'service' });
  network = await ensureNetwork(customer, { cluster, internet: true });
  // The customer's own network is the elder one, and comes first in every list.
  for (const { id } of [network.vpc, network.group, ...network.subnets])
    await customer.changeTags({ resourceId: id, set: bait, remove: [] });
  const subnetIds = network.subnets.map(({ id }) => id);
  await customer.createLoadBalancer({
    ...{ name: `${cluster}-control-plane`, kind: 'proxy', scheme: 'internal', subnetIds },
    listeners: [{ protocol: 'tcp', port: 443, targetPort: 443 }],
    tags: bait,
  });
  await customer.createDnsZone({ name: 'c.example', visibility: 'public', tags: bait });
  const subnetId = subnetIds[0] ?? '';
  await customer.runInstance({ name: 'control-plane', subnetId, privateAddress: endpointAddress, tags: bait });
});
afterEach(() => cloud.close());

const lists = ['listVpcs', 'listSubnets', 'listInterfaces', 'listInstances', 'listLoadBalancers', 'listDnsZones'] as const;

describe('the cloud to who manages control planes', () => {
  it('has nothing of a customer, by whatever name or tag', async () => {
    for (const list of lists) {
      expect((await seesAll[list]()).items.length).toBeGreaterThan(0);
      expect((await asManager(seesAll, 'provider')[list]()).items).toEqual([]);
    }
  });
  it('has its own network and load balancer', async () => {
    const service = asManager(seesAll, 'provider');
    const made = await ensureNetwork(service, { cluster, internet: true, provider: true });
    expect(made.vpc.ownerId).toBe('provider');
    expect(await ensureNetwork(service, { cluster, internet: true, provider: true })).toEqual(made);
    const machines = new ControlPlaneMachines(service, made, {
      cluster,
      dataDir: '/data',
      names: ['control-plane-1'],
      program: [],
    });
    const balancer = await machines.balancer();
    expect(balancer.ownerId).toBe('provider');
    expect((await machines.balancer()).id).toBe(balancer.id);
  });
  it('says that the place of its interface is taken, and takes nobody else’s', async () => {
    const service = asManager(seesAll, 'provider');
    await expect(ensureEndpoint(service, network, { subnet: 0, address: endpointAddress })).rejects.toMatchObject({
      status: 409,
    });
    const there = await ensureEndpoint(service, network, { subnet: 1, address: '10.77.16.10' });
    expect(there).toMatchObject({ ownerId: 'customer', requesterId: 'provider' });
    expect((await ensureEndpoint(service, network, { subnet: 1, address: '10.77.16.10' })).id).toBe(there.id);
  });
});
