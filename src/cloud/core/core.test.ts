import { describe, expect, it } from 'vitest';
import { type OperationId, operations, parseInput, Refusal } from '../api/index.ts';
import { emptyWorld, type Instance, type LoadBalancer, type Observation, type RouteTable, type World } from '../model/index.ts';
import {
  type Account,
  apply,
  type Command,
  forget,
  observe,
  problemsOf,
  quotas,
  read,
  resolveName,
  type Settings,
} from './index.ts';

const settings: Settings = {
  region: 'local-1',
  zones: [
    { name: 'local-1a', region: 'local-1' },
    { name: 'local-1b', region: 'local-1' },
  ],
  instanceTypes: [
    { name: 'small', cpus: 1, memoryMiB: 512 },
    { name: 'large', cpus: 4, memoryMiB: 4096 },
  ],
  publicCidr: '198.18.5.0/24',
  quotas: { ...quotas, vpcs: 2 },
  terminatedKeepMs: 1000,
};
const owner: Account = { id: 'owner', role: 'customer' };
const other: Account = { id: 'other', role: 'customer' };
const service: Account = { id: 'service', role: 'service' };

/** A world that is acted on; every step is checked. */
function cloud(more: Partial<Settings> = {}) {
  let world: World = emptyWorld;
  let count = 0;
  const context = (account: Account) => ({
    ids: (prefix: string) => `${prefix}-${(++count).toString(16).padStart(8, '0')}`,
    now: 1_000_000,
    account,
    settings: { ...settings, ...more },
  });
  const command = (operation: OperationId, input: Record<string, unknown>): Command => {
    const path = Object.fromEntries(Object.entries(input).filter(([key]) => operations[operation].path.includes(`{${key}}`)));
    const body = Object.fromEntries(Object.entries(input).filter(([key]) => !(key in path)));
    return { operation: operation as Command['operation'], input: parseInput(operations[operation], path as never, {}, body) };
  };
  const attempt = (operation: OperationId, input: Record<string, unknown>, account = owner) =>
    apply(world, command(operation, input), context(account));
  return {
    get world() {
      return world;
    },
    do<T = { id: string }>(operation: OperationId, input: Record<string, unknown> = {}, account = owner): T {
      const outcome = attempt(operation, input, account);
      if (outcome instanceof Refusal) throw outcome;
      world = outcome.world;
      expect(problemsOf(world)).toEqual([]);
      return outcome.result as T;
    },
    refusal(operation: OperationId, input: Record<string, unknown>, account = owner): string {
      const outcome = attempt(operation, input, account);
      return outcome instanceof Refusal ? `${outcome.status} ${outcome.code}${outcome.field ? ` ${outcome.field}` : ''}` : 'done';
    },
    halfway(operation: OperationId, input: Record<string, unknown>): World | undefined {
      const outcome = attempt(operation, input);
      return outcome instanceof Refusal ? undefined : outcome.halfway;
    },
    see(observation: Observation) {
      world = observe(world, observation, context(owner));
      expect(problemsOf(world)).toEqual([]);
    },
    read: <T>(operation: OperationId, input: Record<string, unknown>, account = owner): T =>
      read(world, operation, { limit: 100, ...input }, { account, settings }) as T,
    forget(now: number) {
      world = forget(world, { now, settings });
    },
  };
}

/** With a VPC and a subnet. */
function network() {
  const it = cloud();
  const vpc = it.do('createVpc', { cidr: '10.77.0.0/16' });
  const subnet = it.do('createSubnet', { vpcId: vpc.id, zone: 'local-1a', cidr: '10.77.0.0/24' });
  const table = [...it.world.routeTables.values()][0] as RouteTable;
  return Object.assign(it, {
    vpc,
    subnet,
    table,
    run: (name: string, input: Record<string, unknown> = {}) =>
      it.do<Instance>('runInstance', { name, subnetId: subnet.id, ...input }),
    balancer: (name: string, input: Record<string, unknown> = {}) =>
      it.do<LoadBalancer>('createLoadBalancer', { name, subnetIds: [subnet.id], ...input }),
  });
}

describe('networks', () => {
  it('come with a main route table and a default group, and go with them', () => {
    const it = cloud();
    const { id } = it.do('createVpc', { cidr: '10.0.0.0/16' });
    expect([it.world.routeTables.size, it.world.securityGroups.size]).toEqual([1, 1]);
    it.do('deleteVpc', { vpcId: id });
    expect([it.world.vpcs, it.world.routeTables, it.world.securityGroups].map(({ size }) => size)).toEqual([0, 0, 0]);
  });
  it.each([
    ['createVpc', { cidr: '10.0.0.1/16' }, '400 InvalidParameterValue cidr'],
    ['createVpc', { cidr: '10.0.0.0/8' }, '400 InvalidParameterValue cidr'],
    ['createVpc', { cidr: '198.18.0.0/16' }, '400 InvalidParameterValue cidr'],
    ['createSubnet', { vpcId: 'VPC', zone: 'moon', cidr: '10.77.1.0/24' }, '400 InvalidParameterValue zone'],
    ['createSubnet', { vpcId: 'VPC', zone: 'local-1a', cidr: '10.78.1.0/24' }, '400 InvalidParameterValue cidr'],
    ['createSubnet', { vpcId: 'VPC', zone: 'local-1a', cidr: '10.77.0.128/25' }, '409 SubnetConflict'],
    ['createSubnet', { vpcId: 'vpc-0', zone: 'local-1a', cidr: '10.77.1.0/24' }, '404 VpcNotFound'],
    ['deleteVpc', { vpcId: 'VPC' }, '409 DependencyViolation'],
    ['deleteRouteTable', { routeTableId: 'TABLE' }, '409 DependencyViolation'],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: '10.77.0.0/16', target: { kind: 'internet-gateway' } },
      '409 RouteAlreadyExists',
    ],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: 'x', target: { kind: 'internet-gateway' } },
      '400 InvalidParameterValue destination',
    ],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: '0.0.0.0/0', target: { kind: 'instance', id: 'i-0' } },
      '404 InstanceNotFound',
    ],
    ['deleteRoute', { routeTableId: 'TABLE', destination: '0.0.0.0/0' }, '404 RouteNotFound'],
    ['deleteRoute', { routeTableId: 'TABLE', destination: '10.77.0.0/16' }, '400 InvalidParameterValue destination'],
  ] as const)('%s %j: %s', (operation, input, expected) => {
    const it = network();
    const text = JSON.stringify(input).replaceAll('VPC', it.vpc.id).replaceAll('TABLE', it.table.id);
    expect(it.refusal(operation, JSON.parse(text))).toBe(expected);
  });
  it('are bounded in number, and seen by their owners and services only', () => {
    const it = network();
    it.do('createVpc', { cidr: '10.0.0.0/16' });
    expect(it.refusal('createVpc', { cidr: '10.0.0.0/16' })).toBe('409 LimitExceeded');
    expect(it.refusal('deleteVpc', { vpcId: it.vpc.id }, other)).toBe('404 VpcNotFound');
    expect(it.refusal('deleteVpc', { vpcId: it.vpc.id }, service)).toBe('403 AccessDenied');
    expect(it.read<{ items: unknown[] }>('listVpcs', {}, other).items).toEqual([]);
    expect(it.read<{ items: unknown[] }>('listVpcs', {}, service).items).toHaveLength(2);
  });
});

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
    expect(made).toMatchObject({ ownerId: 'service', requesterManaged: true, requesterId: 'service' });
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

describe('lists', () => {
  it('filter by field and tag, and go on where a page ended', () => {
    const it = network();
    for (let index = 0; index < 5; index++) it.run(`n${index}`, { tags: { even: String(index % 2 === 0), all: 'x' } });
    type Page = { items: Instance[]; nextToken?: string };
    expect(it.read<Page>('listInstances', { tags: { even: 'true', all: 'x' } }).items.map(({ name }) => name)).toEqual([
      'n0',
      'n2',
      'n4',
    ]);
    expect(it.read<Page>('listInstances', { name: 'n3' }).items).toHaveLength(1);
    const first = it.read<Page>('listInstances', { limit: 2 });
    const second = it.read<Page>('listInstances', { limit: 3, nextToken: first.nextToken });
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    expect(second.nextToken).toBeUndefined();
    expect(() => it.read('listInstances', { nextToken: '%' })).toThrow(expect.objectContaining({ field: 'nextToken' }));
  });
  it('show tags as they were changed', () => {
    const it = network();
    expect(it.do('changeTags', { resourceId: it.vpc.id, set: { a: '1', b: '2' }, remove: ['b'] })).toEqual({ tags: { a: '1' } });
    expect(it.refusal('changeTags', { resourceId: it.vpc.id }, other)).toBe('404 VpcNotFound');
    expect(it.refusal('changeTags', { resourceId: 'vpc-0' })).toBe('404 ResourceNotFound');
  });
});

describe('names', () => {
  it('are found in private zones, by address, in public zones, or elsewhere', () => {
    const it = network();
    const zone = it.do('createDnsZone', { name: 'Example.COM.'.slice(0, -1), vpcIds: [it.vpc.id] });
    const open = it.do('createDnsZone', { name: 'example.com', visibility: 'public' });
    const set = (dnsZoneId: string, type: string, name: string, ...values: string[]) =>
      it.do('putDnsRecord', { dnsZoneId, type, name, values });
    set(zone.id, 'A', 'api.example.com', '10.77.0.9', '10.77.0.10');
    set(zone.id, 'CNAME', 'www.example.com', 'api.example.com');
    set(zone.id, 'CNAME', 'out.example.com', 'elsewhere.test');
    set(zone.id, 'A', '*.apps.example.com', '10.77.0.11');
    set(open.id, 'A', 'api.example.com', '198.18.5.9');
    it.run('a');
    const ask = (name: string, type = 'A', vpcId: string | undefined = it.vpc.id) => {
      const found = resolveName(it.world, settings, vpcId, { name, type });
      return found === 'forward'
        ? found
        : [found.rcode, ...found.answers.map(({ data }) => data), ...(found.beyond ? [found.beyond] : [])];
    };
    expect(ask('API.example.com')).toEqual(['NOERROR', '10.77.0.9', '10.77.0.10']);
    expect(resolveName(it.world, settings, undefined, { name: 'api.example.com', type: 'A' })).toMatchObject({
      answers: [{ data: '198.18.5.9' }],
    });
    expect(ask('www.example.com')).toEqual(['NOERROR', 'api.example.com', '10.77.0.9', '10.77.0.10']);
    expect(ask('out.example.com')).toEqual(['NOERROR', 'elsewhere.test', 'elsewhere.test']);
    expect(ask('api.example.com', 'AAAA')).toEqual(['NOERROR']);
    expect(ask('x.y.apps.example.com')).toEqual(['NOERROR', '10.77.0.11']);
    expect(ask('apps.example.com')).toEqual(['NOERROR']);
    expect(ask('none.example.com')).toEqual(['NXDOMAIN']);
    expect(ask('ip-10-77-0-4.local-1.compute.internal')).toEqual(['NOERROR', '10.77.0.4']);
    expect(ask('ip-10-77-0-5.local-1.compute.internal')).toEqual(['NXDOMAIN']);
    expect(ask('4.0.77.10.in-addr.arpa', 'PTR')).toEqual(['NOERROR', 'ip-10-77-0-4.local-1.compute.internal']);
    expect(ask('elsewhere.test')).toBe('forward');
    expect(it.refusal('putDnsRecord', { dnsZoneId: zone.id, type: 'A', name: 'www.example.com', values: ['1.2.3.4'] })).toBe(
      '409 RecordConflict',
    );
    expect(it.refusal('putDnsRecord', { dnsZoneId: zone.id, type: 'MX', name: 'a.example.com', values: ['a'] })).toBe(
      '400 InvalidParameterValue type',
    );
    it.do('deleteDnsRecord', { dnsZoneId: zone.id, type: 'A', name: 'api.example.com' });
  });
});
