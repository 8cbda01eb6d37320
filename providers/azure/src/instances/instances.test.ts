import { type InstancesV2, isInstanceNotFound, type Node } from 'sagong/cloud-provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import { location, subscriptionId } from '../../test-server/index.ts';
import { nodeOf, type OpenOptions, openWorld } from '../../test-server/world.ts';
import { formatProviderId, parseProviderId } from './provider-id.ts';

const named = (name: string, more: Partial<Node['metadata']> = {}): Node => ({ metadata: { name, ...more }, spec: {} });

async function opened(options: OpenOptions = {}) {
  const world = await openWorld();
  onTestFinished(() => world.server.close());
  const { instancesV2 } = await world.open(options);
  return { ...world, subscription: world.server.subscription, instances: instancesV2 as InstancesV2 };
}

describe('a Node', () => {
  it('of a single machine is known by its name, with size, zone, region and addresses', async () => {
    const { instances, subscription } = await opened();
    subscription.addMachine('node-a', location, { zone: '2', publicIp: true });
    const known = await instances.instanceMetadata(named('node-a'));
    expect(known).toMatchObject({
      providerId: `azure:///subscriptions/${subscriptionId}/resourceGroups/shop/providers/Microsoft.Compute/virtualMachines/node-a`,
      instanceType: 'Standard_D2s_v5',
      zone: 'westeurope-2',
      region: 'westeurope',
    });
    expect(known?.nodeAddresses.map(({ type }) => type)).toEqual(['InternalIP', 'Hostname', 'ExternalIP']);
  });
  it('without a zone is in its fault domain', async () => {
    const { instances, subscription } = await opened();
    subscription.addMachine('node-a', location, { faultDomain: 3 });
    expect((await instances.instanceMetadata(named('node-a')))?.zone).toBe('3');
  });
  it('of a scale set is known by the name that its machine has itself', async () => {
    const { instances, subscription } = await opened({ config: { vmType: 'vmss' } });
    subscription.addScaleSet('workers', location);
    for (let number = 0; number < 45; number++)
      subscription.addMember('workers', `workers00000${number}`, location, { zone: '1' });
    const known = await instances.instanceMetadata(named('workers0000044'));
    expect(known?.providerId).toMatch(/\/virtualMachineScaleSets\/workers\/virtualMachines\/\d+$/);
    expect([known?.zone, known?.instanceType]).toEqual(['westeurope-1', 'Standard_D2s_v5']);
    // One that has come since the list was read is found as well.
    subscription.addMember('workers', 'workers00000new', location);
    expect(await instances.instanceExists(named('workers00000new'))).toBe(true);
  });
  it('of a flexible scale set is a single machine under another name', async () => {
    const { instances, subscription } = await opened({ config: { vmType: 'vmssflex' } });
    subscription.addScaleSet('flex', location, 'Flexible');
    subscription.addMachine('flex_1a2b3c', location, { computerName: 'flex000001', flexibleSet: 'flex' });
    expect((await instances.instanceMetadata(named('flex000001')))?.providerId).toMatch(/virtualMachines\/flex_1a2b3c$/);
  });
  it('has the addresses of both families, its own before those of pods', async () => {
    const { instances, subscription } = await opened();
    subscription.addMachine('node-a', location, { ipv6: true });
    const { nodeAddresses = [] } = (await instances.instanceMetadata(named('node-a'))) ?? {};
    expect(nodeAddresses.map(({ type, address }) => `${type} ${address.includes(':')}`)).toEqual([
      'InternalIP false',
      'InternalIP true',
      'Hostname false',
    ]);
  });
  it('of another resource group says so', async () => {
    const { instances, subscription } = await opened();
    subscription.addMachine('far', location, { group: 'elsewhere' });
    expect(await instances.instanceExists(named('far'))).toBe(false);
    expect(await instances.instanceExists(named('far', { labels: { 'kubernetes.azure.com/resource-group': 'elsewhere' } }))).toBe(
      true,
    );
  });
  it('that is managed elsewhere exists, and is not asked for', async () => {
    const { instances, server } = await opened();
    const node = named('on-premises', { labels: { 'kubernetes.azure.com/managed': 'false' } });
    expect([await instances.instanceExists(node), await instances.instanceShutdown(node)]).toEqual([true, false]);
    expect(server.requests).toEqual([]);
  });
  it.each([
    ['running', false],
    ['stopped', true],
    ['deallocating', true],
    ['deallocated', true],
    ['starting', false],
  ])('whose machine is %s exists, and is shut down: %s', async (power, off) => {
    const { instances, subscription } = await opened();
    const node = nodeOf(subscription.addMachine('node-a', location));
    subscription.setPower('node-a', power);
    expect([await instances.instanceExists(node), await instances.instanceShutdown(node)]).toEqual([true, off]);
  });
  it('exists for as long as the API does not say that it does not', async () => {
    const { instances, subscription, server } = await opened();
    const node = nodeOf(subscription.addMachine('node-a', location));
    for (const [status, code] of [
      [403, 'AuthorizationFailed'],
      [500, 'InternalServerError'],
    ] as const) {
      server.faults.add({ status, code, times: 9 });
      await expect(instances.instanceExists(node)).rejects.toThrow(code);
      server.faults.clear();
    }
    subscription.removeMachine('node-a');
    expect(await instances.instanceExists(node)).toBe(false);
    await expect(instances.instanceMetadata(node)).rejects.toSatisfy(isInstanceNotFound);
  });
  it('that is new is believed for a while', async () => {
    const { instances, clock } = await opened({ config: { nodeInstanceNotFoundGracePeriodInSeconds: 60 } });
    const node = named('node-a', { creationTimestamp: new Date(clock.now()).toISOString() });
    expect(await instances.instanceExists(node)).toBe(true);
    clock.skip(61_000);
    expect(await instances.instanceExists(node)).toBe(false);
  });
});

it('provider IDs are read and written as upstream does', () => {
  const id =
    'azure:///subscriptions/s/resourceGroups/MC_Shop/providers/Microsoft.Compute/virtualMachineScaleSets/workers/virtualMachines/7';
  expect(parseProviderId(id)).toEqual({ subscription: 's', group: 'MC_Shop', scaleSet: 'workers', name: '7' });
  expect(formatProviderId(parseProviderId(id))).toBe(id.replace('MC_Shop', 'mc_shop'));
  for (const foreign of [
    'gce://p/z/n',
    'azure://',
    'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/x',
  ])
    expect(() => parseProviderId(foreign)).toThrow('error splitting providerID');
});
