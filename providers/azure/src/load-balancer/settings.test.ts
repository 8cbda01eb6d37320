import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { balancer, named, opened, other, own, part, publicIps, security, tcp, web } from '../../test-server/balancer-tests.ts';
import { backendsOf, balancersIn, leftoversOf } from '../../test-server/conformance-world.ts';
import { location } from '../../test-server/index.ts';
import type { Resource } from '../emulator/resource.ts';
import { addMembers, addNodes, cluster } from '../../test-server/world.ts';
import { annotation, portAnnotation } from './annotations.ts';

describe('annotations', () => {
  it('set timeouts, resets, affinity and probes', async () => {
    const world = await opened();
    const notes = {
      [annotation.idleTimeout]: '30',
      [annotation.disableTcpReset]: 'true',
      [annotation.probeProtocol]: 'Http',
      [annotation.probePath]: '/up',
      [annotation.probeInterval]: '10',
      [annotation.probeCount]: '3',
    };
    await world.balancers.ensureLoadBalancer(cluster, web(notes, { sessionAffinity: 'ClientIP' }), addNodes(world, ['node-a']));
    expect(part(world, 'loadBalancingRules', `${own}-TCP-80`)).toMatchObject({
      idleTimeoutInMinutes: 30,
      enableTcpReset: false,
      loadDistribution: 'SourceIP',
    });
    expect(part(world, 'probes', `${own}-TCP-80`)).toMatchObject({
      protocol: 'Http',
      requestPath: '/up',
      intervalInSeconds: 10,
      probeThreshold: 3,
    });
  });
  it('of single ports win', async () => {
    const world = await opened();
    const service = web({ [annotation.probeProtocol]: 'http' }, { ports: [tcp(80), tcp(443), tcp(8080), tcp(9090)] });
    Object.assign(service.metadata.annotations as object, {
      [portAnnotation(80, 'health-probe_protocol')]: 'tcp',
      [portAnnotation(443, 'health-probe_port')]: 'p80',
      [portAnnotation(8080, 'no_probe_rule')]: 'true',
      [portAnnotation(9090, 'no_lb_rule')]: 'true',
    });
    await world.balancers.ensureLoadBalancer(cluster, service, addNodes(world, ['node-a']));
    expect(named(world, 'loadBalancingRules')).toEqual([`${own}-TCP-80`, `${own}-TCP-443`, `${own}-TCP-8080`]);
    expect(part(world, 'probes', `${own}-TCP-80`)).toMatchObject({ protocol: 'Tcp' });
    expect(part(world, 'probes', `${own}-TCP-443`)).toMatchObject({ protocol: 'Http', port: 30_080 });
    expect(part(world, 'loadBalancingRules', `${own}-TCP-8080`)?.['probe']).toBeUndefined();
  });
  it('send each protocol of a port to its own node port', async () => {
    const world = await opened();
    const ports = [tcp(53, 30_053), { ...tcp(53, 30_054), name: 'udp', protocol: 'UDP' }];
    await world.balancers.ensureLoadBalancer(
      cluster,
      web({ [annotation.disableFloatingIp]: 'true' }, { ports }),
      addNodes(world, ['node-a']),
    );
    expect(part(world, 'loadBalancingRules', `${own}-TCP-53`)).toMatchObject({ protocol: 'Tcp', backendPort: 30_053 });
    expect(part(world, 'loadBalancingRules', `${own}-UDP-53`)).toMatchObject({ protocol: 'Udp', backendPort: 30_054 });
  });
  it('make one rule of all ports inside', async () => {
    const world = await opened();
    const service = web({ [annotation.internal]: 'true', [annotation.haPorts]: 'true' }, { ports: [tcp(80), tcp(443)] });
    await world.balancers.ensureLoadBalancer(cluster, service, addNodes(world, ['node-a']));
    expect(named(world, 'loadBalancingRules', 'kubernetes-internal')).toEqual([`${own}-TCP-80`]);
    expect(part(world, 'loadBalancingRules', `${own}-TCP-80`, 'kubernetes-internal')).toMatchObject({
      protocol: 'All',
      frontendPort: 0,
      backendPort: 0,
    });
  });
  it.each([
    [{ [annotation.idleTimeout]: '3' }, {}, 'is not between 4 and 100'],
    [{ [annotation.internal]: 'perhaps' }, {}, 'is not a boolean'],
    [{ [annotation.subnet]: 'inside' }, {}, 'is for internal load balancers'],
    [{ [annotation.haPorts]: 'true' }, {}, 'is for internal load balancers'],
    [{ [annotation.ipv4]: 'fd00::1' }, {}, 'is not an IPv4 address'],
    [{ [annotation.pipPrefix]: 'range' }, {}, 'is not the ID of a public IP prefix'],
    [{ [annotation.probeProtocol]: 'icmp' }, {}, 'is not one of tcp, http, https'],
    [{ [annotation.probeInterval]: '60', [annotation.probeCount]: '2' }, {}, 'must be less than 120 s'],
    [{ [annotation.ipRanges]: '10.0.0.0' }, {}, 'is not a range of addresses'],
    [{ [annotation.ipRanges]: '10.0.0.0/8' }, { loadBalancerSourceRanges: ['10.0.0.0/8'] }, 'cannot set both'],
    [{ [annotation.additionalIps]: 'here' }, {}, 'is not a public address'],
    [{ [annotation.additionalIps]: '10.224.0.4' }, {}, 'is not a public address'],
    [{ [annotation.pipName]: 'mine/../theirs' }, {}, 'is not a name in Azure'],
    [{ [annotation.resourceGroup]: 'shop/providers' }, {}, 'is not a name in Azure'],
    [
      { [annotation.denyOthers]: 'true', [annotation.disableFloatingIp]: 'true', [annotation.ipRanges]: '10.0.0.0/8' },
      {},
      'contradicts',
    ],
    [{ 'pls-create': 'true' }, {}, 'private link services are not made'],
    [{ [annotation.pipName]: 'nobody' }, {}, "=nobody for service shop/web doesn't exist"],
    [{ [annotation.internal]: 'true', [annotation.subnet]: 'nowhere' }, {}, 'subnet vnet/nowhere does not exist'],
    [{}, { ports: [{ protocol: 'SCTP', port: 1, nodePort: 30_001 }] }, 'SCTP is only supported'],
    [{}, { ports: [] }, 'needs ports'],
  ])('that say %j with %j are refused before anything is made', async (notes: Record<string, string>, spec: object, words) => {
    const world = await opened();
    await expect(world.balancers.ensureLoadBalancer(cluster, web(notes, spec), addNodes(world, ['node-a']))).rejects.toThrow(
      words,
    );
    expect(balancersIn(world.server)).toEqual([]);
    expect(security(world)).toEqual([]);
  });
});

describe('backends', () => {
  it('are the machines of the given Nodes, single ones and members of scale sets', async () => {
    const world = await opened({ config: { vmType: 'vmss', putVMSSVMBatchSize: 5 } });
    world.server.subscription.addScaleSet('workers', location);
    const nodes = [...addNodes(world, ['single']), ...addMembers(world, 'workers', ['member-a', 'member-b'])];
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    expect(backendsOf(world.server, web())).toEqual(['single', 'member-a', 'member-b']);
    const poolId = `${balancer(world)?.id}/backendAddressPools/kubernetes`;
    expect(world.server.subscription.scaleSetsOn(balancer(world)?.id ?? '')).toHaveLength(1);
    await world.balancers.updateLoadBalancer(cluster, web(), nodes.slice(1, 2));
    expect(world.server.subscription.configsIn(poolId)).toHaveLength(1);
    await world.balancers.ensureLoadBalancerDeleted(cluster, web());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('are no control plane, no machines elsewhere, and nothing of what is gone between two calls', async () => {
    const world = await opened();
    const [first, second, third, gone] = addNodes(world, ['node-a', 'node-b', 'node-c', 'node-d']);
    const labelled = (node: typeof first, labels: Record<string, string>) => ({
      ...node,
      metadata: { ...node?.metadata, labels },
    });
    const { server } = world;
    // Its card goes after the list was read, before it is asked for.
    server.faults.add({
      method: 'GET',
      path: /networkInterfaces\/node-d-nic$/,
      then: () => server.subscription.removeMachine('node-d'),
    });
    const nodes = [
      first,
      labelled(second, { 'node-role.kubernetes.io/control-plane': '' }),
      labelled(third, { 'kubernetes.azure.com/managed': 'false' }),
      gone,
    ].filter((node) => node !== undefined);
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    expect(backendsOf(server, web())).toEqual(['node-a']);
  });
  it('are addresses in the pool where the configuration says so, and share a probe', async () => {
    const config = { loadBalancerBackendPoolConfigurationType: 'nodeIP', clusterServiceLoadBalancerHealthProbeMode: 'shared' };
    const world = await opened({ config });
    const nodes = addNodes(world, ['node-a', 'node-b']);
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    await world.balancers.ensureLoadBalancer(cluster, other(), nodes);
    expect(backendsOf(world.server, web())).toEqual(['node-a', 'node-b']);
    expect(named(world, 'probes')).toEqual(['cluster-service-shared-health-probe']);
    await world.balancers.ensureLoadBalancerDeleted(cluster, web());
    expect(named(world, 'probes')).toEqual(['cluster-service-shared-health-probe']);
    await world.balancers.ensureLoadBalancerDeleted(cluster, other());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('are left alone where somebody else fills the pools', async () => {
    const world = await opened({ config: { preConfiguredBackendPoolLoadBalancerTypes: 'all' } });
    await world.balancers.ensureLoadBalancer(cluster, web(), addNodes(world, ['node-a']));
    expect(backendsOf(world.server, web())).toEqual([]);
  });
});

describe('when things go wrong', () => {
  it('a lost answer makes no second one', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    world.server.faults.rates = { ...noRates, lostAnswer: 0.3 };
    const ensure = async (tries = 20): Promise<unknown> =>
      world.balancers.ensureLoadBalancer(cluster, web(), nodes).catch((error: unknown) => {
        if (tries === 0) throw error;
        return ensure(tries - 1);
      });
    await ensure();
    expect([balancersIn(world.server).length, publicIps(world).length, security(world).length]).toEqual([1, 1, 1]);
    expect(named(world, 'frontendIPConfigurations')).toEqual([own]);
  });
  it('waits for operations, and fails with those that fail late, and makes them again', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    world.server.faults.rates = { ...noRates, operationMs: 60_000 };
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    world.server.faults.rates = { ...noRates, operationMs: 5_000, lateFailure: 1 };
    const changed = web({}, { ports: [tcp(443)] });
    await expect(world.balancers.ensureLoadBalancer(cluster, changed, nodes)).rejects.toThrow(
      'InternalServerError: An error occurred.',
    );
    world.server.faults.rates = noRates;
    await world.balancers.ensureLoadBalancer(cluster, changed, nodes);
    expect(balancer(world)?.properties['provisioningState']).toBe('Succeeded');
    expect(named(world, 'loadBalancingRules')).toEqual([`${own}-TCP-443`]);
  });
  it('a write that meets somebody else’s begins again with what they left', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    const { server } = world;
    const theirs = (): void => {
      const there = balancer(world) as Resource;
      server.subscription.put({ ...there, tags: { theirs: 'yes' } });
    };
    server.faults.add({ method: 'PUT', path: /loadBalancers\/kubernetes$/, then: theirs });
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.idleTimeout]: '9' }), nodes);
    expect(balancer(world)?.tags).toEqual({ theirs: 'yes' });
    expect(part(world, 'loadBalancingRules', `${own}-TCP-80`)).toMatchObject({ idleTimeoutInMinutes: 9 });
  });
  it('what is busy is asked again', async () => {
    const world = await opened();
    world.server.faults.add({
      method: 'PUT',
      path: /publicIPAddresses/,
      status: 409,
      code: 'AnotherOperationInProgress',
      times: 2,
    });
    world.server.faults.add({ method: 'PUT', path: /loadBalancers/, status: 429, code: 'RetryableError', times: 2 });
    await world.balancers.ensureLoadBalancer(cluster, web(), addNodes(world, ['node-a']));
    expect(balancersIn(world.server)).toHaveLength(1);
  });
  it('throttling becomes a delay of the controller', async () => {
    const world = await opened();
    const headers = { 'retry-after': '120' };
    world.server.faults.add({ method: 'PUT', status: 429, code: 'TooManyRequests', headers });
    const error: unknown = await world.balancers
      .ensureLoadBalancer(cluster, web(), addNodes(world, ['node-a']))
      .catch((one: unknown) => one);
    expect(retryAfterOf(error)).toBe(120_000);
  });
});
