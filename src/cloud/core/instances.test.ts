import { describe, expect, it } from 'vitest';
import type { Observation, World } from '../model/index.ts';
import { cloud, network, other, service } from './test-support/fixtures.ts';
import { problemsOf } from './index.ts';

describe('instances', () => {
  const state = (it: ReturnType<typeof network>, id: string) => it.world.instances.get(id)?.state;
  const seen = (instanceId: string, to: 'running' | 'stopped' | 'terminated', reason?: string): Observation => ({
    kind: 'instance-state',
    instanceId,
    state: to,
    ...(reason && { reason }),
  });
  it('run, stop, start, and are gone in the end with all they had', () => {
    const it = network();
    const { id, privateAddress, publicAddress, privateDnsName } = it.run('a', { assignPublicAddress: true });
    expect([privateAddress, publicAddress, privateDnsName]).toEqual([
      '10.77.0.4',
      '198.18.5.3',
      'ip-10-77-0-4.local-1.compute.internal',
    ]);
    it.see({ kind: 'instance-state', instanceId: id, state: 'running', initPid: 7 });
    it.do('stopInstance', { instanceId: id });
    expect(it.refusal('startInstance', { instanceId: id })).toBe('409 IncorrectInstanceState');
    it.see(seen(id, 'running'));
    expect(state(it, id)).toBe('stopping');
    it.see(seen(id, 'stopped'));
    expect(it.world.instances.get(id)).toMatchObject({ state: 'stopped', boots: 1 });
    expect(it.world.instances.get(id)).not.toHaveProperty('initPid');
    it.do('modifyInstance', { instanceId: id, type: 'large' });
    it.do('startInstance', { instanceId: id });
    it.see(seen(id, 'stopped'));
    expect(it.world.instances.get(id)).toMatchObject({ state: 'pending', boots: 2, type: 'large' });
    it.see(seen(id, 'running'));
    it.do('terminateInstance', { instanceId: id });
    it.see(seen(id, 'stopped'));
    expect(state(it, id)).toBe('shutting-down');
    it.see(seen(id, 'terminated'));
    expect([state(it, id), it.world.interfaces.size]).toEqual(['terminated', 0]);
    it.forget(1_000_999);
    expect(it.world.instances.size).toBe(1);
    it.forget(1_001_000);
    expect(it.world.instances.size).toBe(0);
    it.do('deleteSubnet', { subnetId: it.subnet.id });
  });
  it('that fail say why', () => {
    const it = network();
    const { id } = it.run('a');
    it.see(seen(id, 'stopped', 'no cgroups'));
    expect(it.world.instances.get(id)).toMatchObject({ state: 'stopped', stateReason: 'no cgroups' });
    it.do('startInstance', { instanceId: id });
    expect(it.world.instances.get(id)).not.toHaveProperty('stateReason');
  });
  it('are where routes and load balancers lead, while they run', () => {
    const it = network();
    const { id } = it.run('a');
    const route = () => it.world.routeTables.get(it.table.id)?.routes[1]?.state;
    const input = { routeTableId: it.table.id, destination: '10.244.0.0/24', target: { kind: 'instance', id }, name: 'pods' };
    it.do('putRoute', input);
    expect(route()).toBe('blackhole');
    it.see(seen(id, 'running'));
    expect(route()).toBe('active');
    expect(it.refusal('putRoute', { ...input, name: 'mine' })).toBe('409 RouteAlreadyExists');
    const lb = it.balancer('web', { targets: [{ instanceId: id }] });
    it.do('terminateInstance', { instanceId: id });
    expect(it.refusal('putRoute', { ...input, destination: '10.244.1.0/24' })).toBe('409 IncorrectInstanceState');
    it.see(seen(id, 'terminated'));
    expect(route()).toBe('blackhole');
    expect(it.world.loadBalancers.get(lb.id)?.targets).toEqual([]);
  });
  it('half run leave an interface', () => {
    const it = network();
    const half = it.halfway('runInstance', { name: 'a', subnetId: it.subnet.id });
    expect([half?.instances.size, half?.interfaces.size, problemsOf(half as World)]).toEqual([0, 1, []]);
  });
});

describe('interfaces and addresses', () => {
  it('a service has its own in a customer subnet; the customer sees it and cannot touch it', () => {
    const it = network();
    const made = it.do('createInterface', { subnetId: it.subnet.id }, service);
    const provider = { requesterManaged: true, requesterId: 'service', instanceOwnerId: 'service' };
    const { ownerId = '' } = it.world.subnets.get(it.subnet.id) ?? {};
    expect(ownerId).not.toBe('service');
    expect(made).toMatchObject({ ownerId, ...provider });
    expect(it.read<{ items: unknown[] }>('listInterfaces', {}).items).toEqual([made]);
    expect(it.read<{ items: unknown[] }>('listInterfaces', {}, other).items).toEqual([]);
    expect(it.refusal('deleteInterface', { interfaceId: made.id })).toBe('403 AccessDenied');
    expect(it.refusal('modifyInterface', { interfaceId: made.id, sourceDestCheck: false })).toBe('403 AccessDenied');
    expect(it.refusal('deleteSubnet', { subnetId: it.subnet.id })).toBe('409 DependencyViolation');
    expect(it.refusal('createInterface', { subnetId: it.subnet.id }, other)).toBe('404 SubnetNotFound');
    it.do('deleteInterface', { interfaceId: made.id }, service);
  });
  it('are attached to an index, and free again', () => {
    const it = network();
    const { id } = it.run('a');
    const made = it.do('createInterface', { subnetId: it.subnet.id });
    expect(it.do('attachInterface', { interfaceId: made.id, instanceId: id })).toMatchObject({
      attachment: { instanceId: id, deviceIndex: 1 },
    });
    expect(it.refusal('deleteInterface', { interfaceId: made.id })).toBe('409 DependencyViolation');
    expect(it.refusal('detachInterface', { interfaceId: it.world.instances.get(id)?.interfaceIds[0] })).toBe(
      '409 DependencyViolation',
    );
    expect(it.do('detachInterface', { interfaceId: made.id })).not.toHaveProperty('attachment');
    expect(it.world.instances.get(id)?.interfaceIds).toHaveLength(1);
  });
  it('are in namespaces where networks are real', () => {
    const it = cloud({ mark: 'abcdef' });
    const vpc = it.do('createVpc', { cidr: '10.77.0.0/16' });
    const subnet = it.do('createSubnet', { vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/24' });
    const made = it.do<{ id: string; netns: string }>('createInterface', { subnetId: subnet.id });
    expect(made.netns).toBe(`sagong-abcdef-${made.id}`);
    const { id } = it.do('runInstance', { name: 'a', subnetId: subnet.id });
    expect([...it.world.interfaces.values()][1]?.netns).toBe(`sagong-abcdef-${id}`);
  });
  it('public ones follow their association', () => {
    const it = network();
    const { id, interfaceIds } = it.run('a', { assignPublicAddress: true });
    const address = it.do<{ id: string; publicAddress: string }>('allocateAddress');
    expect(address.publicAddress).toBe('198.18.5.4');
    it.do('associateAddress', { addressId: address.id, interfaceId: interfaceIds[0] });
    expect(it.world.instances.get(id)?.publicAddress).toBe('198.18.5.4');
    expect(it.refusal('releaseAddress', { addressId: address.id })).toBe('409 DependencyViolation');
    it.do('disassociateAddress', { addressId: address.id });
    expect(it.world.instances.get(id)).not.toHaveProperty('publicAddress');
    it.do('releaseAddress', { addressId: address.id });
    expect(it.refusal('allocateAddress', { publicAddress: '198.18.5.2' })).toBe('400 InvalidParameterValue publicAddress');
  });
  it('run out', () => {
    const it = cloud();
    const vpc = it.do('createVpc', { cidr: '10.77.0.0/28' });
    const subnet = it.do('createSubnet', { vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/28' });
    for (let round = 0; round < 11; round++) it.do('createInterface', { subnetId: subnet.id });
    expect(it.refusal('createInterface', { subnetId: subnet.id })).toBe('409 InsufficientFreeAddresses');
    expect(it.refusal('createInterface', { subnetId: subnet.id, privateAddress: '10.77.0.4' })).toBe('409 AddressInUse');
  });
});
