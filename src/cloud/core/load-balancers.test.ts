import { describe, expect, it } from 'vitest';
import type { LoadBalancer, World } from '../model/index.ts';
import { network } from './test-support/fixtures.ts';

describe('security groups', () => {
  it('hold a set of rules', () => {
    const it = network();
    const { id } = it.do('createSecurityGroup', { vpcId: it.vpc.id, name: 'web' });
    const rule = { protocol: 'tcp', fromPort: 80, cidr: '0.0.0.0/0' };
    const add = (rules: unknown[]) => it.refusal('authorizeSecurityGroupIngress', { securityGroupId: id, rules });
    it.do('authorizeSecurityGroupIngress', { securityGroupId: id, rules: [rule, { ...rule, description: 'again' }] });
    expect(it.world.securityGroups.get(id)?.ingress).toEqual([{ ...rule, toPort: 80 }]);
    expect(add([{ protocol: 'tcp' }])).toBe('400 InvalidParameterValue rules.0');
    expect(add([{ ...rule, protocol: 'icmp' }])).toBe('400 InvalidParameterValue rules.0.fromPort');
    expect(add([{ ...rule, toPort: 79 }])).toBe('400 InvalidParameterValue rules.0.toPort');
    expect(add([{ protocol: 'all', groupId: 'sg-0' }])).toBe('404 SecurityGroupNotFound');
    it.do('revokeSecurityGroupIngress', { securityGroupId: id, rules: [rule] });
    expect(it.refusal('revokeSecurityGroupIngress', { securityGroupId: id, rules: [rule] })).toBe(
      '404 SecurityGroupRuleNotFound',
    );
    expect(it.refusal('createSecurityGroup', { vpcId: it.vpc.id, name: 'web' })).toBe('409 SecurityGroupAlreadyExists');
    it.do('createInterface', { subnetId: it.subnet.id, securityGroupIds: [id] });
    expect(it.refusal('deleteSecurityGroup', { securityGroupId: id })).toBe('409 DependencyViolation');
  });
});

describe('load balancers', () => {
  const listeners = [{ protocol: 'tcp', port: 80, targetPort: 30080 }];
  it('are made in two steps and keep what stays', () => {
    const it = network();
    const { id } = it.run('a');
    const input = { name: 'web', subnetIds: [it.subnet.id], listeners, targets: [{ instanceId: id }] };
    const half = it.halfway('createLoadBalancer', input);
    expect([...(half as World).loadBalancers.values()][0]).toMatchObject({ state: 'provisioning', listeners: [], targets: [] });
    const lb = it.do<LoadBalancer>('createLoadBalancer', input);
    expect(it.refusal('createLoadBalancer', input)).toBe('409 LoadBalancerAlreadyExists');
    it.see({ kind: 'load-balancer-state', loadBalancerId: lb.id, state: 'active', loopbackPorts: { 'tcp/80': 40080 } });
    it.see({ kind: 'target-health', loadBalancerId: lb.id, instanceId: id, health: 'healthy' });
    it.do('putTargets', { loadBalancerId: lb.id, targets: [{ instanceId: id }, { instanceId: it.run('b').id }] });
    expect(it.world.loadBalancers.get(lb.id)?.targets.map(({ health }) => health)).toEqual(['healthy', 'initial']);
    it.do('putListeners', { loadBalancerId: lb.id, listeners: [] });
    expect(it.world.loadBalancers.get(lb.id)?.loopbackPorts).toEqual({});
    expect(it.halfway('deleteLoadBalancer', { loadBalancerId: lb.id })?.loadBalancers.size).toBe(1);
    it.do('deleteLoadBalancer', { loadBalancerId: lb.id });
    expect(it.world.loadBalancers.size).toBe(0);
  });
  it.each([
    [{ listeners: [...listeners, ...listeners] }, '400 InvalidParameterValue listeners.1'],
    [{ listeners: [{ protocol: 'udp', port: 53 }] }, '400 InvalidParameterValue listeners.0.targetPort'],
    [{ kind: 'network', listeners }, '400 InvalidParameterValue listeners.0.targetPort'],
    [{ kind: 'network', proxyProtocol: 'v2' }, '400 InvalidParameterValue proxyProtocol'],
    [{ targets: [{ instanceId: 'i-0' }] }, '404 InstanceNotFound'],
    [{ healthCheck: { protocol: 'tcp', port: 1, path: '/' } }, '400 InvalidParameterValue healthCheck.path'],
    [{ address: '10.0.0.1' }, '400 InvalidParameterValue address'],
    [{ scheme: 'internal', address: '10.77.0.1' }, '400 InvalidParameterValue address'],
    [{ scheme: 'internal', address: '10.77.0.9' }, 'done'],
  ])('%j: %s', (input, expected) => {
    const it = network();
    expect(it.refusal('createLoadBalancer', { name: 'web', subnetIds: [it.subnet.id], ...input })).toBe(expected);
  });
  it('can have an allocated address', () => {
    const it = network();
    const { id, publicAddress } = it.do<{ id: string; publicAddress: string }>('allocateAddress');
    const lb = it.balancer('web', { address: publicAddress });
    expect(it.refusal('createLoadBalancer', { name: 'b', subnetIds: [it.subnet.id], address: publicAddress })).toBe(
      '409 AddressInUse',
    );
    expect(it.refusal('releaseAddress', { addressId: id })).toBe('409 DependencyViolation');
    it.do('deleteLoadBalancer', { loadBalancerId: lb.id });
    it.do('releaseAddress', { addressId: id });
  });
});
