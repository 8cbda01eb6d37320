import type { Service } from 'sagong/cloud-provider';
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates, testService, testServiceUid } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { http, https, nlb, secret, useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { annotation, nameFor } from '../annotations.ts';

const { ensure, get, nameOf, nodes, only, remove, reopen, update, world, writes } = useBalancers();

describe('a change', () => {
  it('costs no write when there is none', async () => {
    world.cluster.objects.set('secrets web-tls', secret('first') as never);
    const service = testService({ [annotation.sslPorts]: '443', [annotation.tlsSecret]: 'web-tls' }, { ports: [http, https] });
    await ensure(service);
    const before = writes();
    await ensure(service);
    await update(service, nodes);
    expect(writes()).toBe(before);
  });
  it('keeps the address and the other ports when one port changes its protocol', async () => {
    const first = await ensure(testService({}, { ports: [http] }));
    const second = await ensure(testService({ [annotation.backendProtocol]: 'HTTP' }, { ports: [http, https] }));
    expect(second).toEqual(first);
    expect(Object.keys(only(testService()).listeners).toSorted()).toEqual(['HTTP-443', 'HTTP-80']);
  });
  it.each([
    ['a load balancer', {}, { [annotation.proxyProtocol]: '2' }],
    ['one with an idle timeout', { [annotation.idleTimeout]: '100' }, { [annotation.proxyProtocol]: '1' }],
    ['a network load balancer', nlb, { [annotation.ppv2]: 'true' }],
  ])('takes the PROXY protocol away from %s with its annotation', async (_what, plain, proxied) => {
    const isOn = () =>
      Object.values(only(testService(plain)).listeners).map(
        (one) => (one.isPpv2Enabled ?? false) || one.connectionConfiguration?.backendTcpProxyProtocolVersion !== undefined,
      );
    await ensure(testService({ ...plain, ...proxied }));
    expect(isOn()).toEqual([true]);
    await ensure(testService(plain));
    expect(isOn()).toEqual([false]);
    const before = writes();
    await ensure(testService(plain));
    expect(writes()).toBe(before);
  });
  it.each([
    ['lb', {}],
    ['nlb', nlb],
  ] as const)('to the other side is refused, after all else is done: %s', async (kind, notes) => {
    const inside = { ...notes, [nameFor(kind, 'internal')]: 'true' };
    await ensure(testService(notes));
    await expect(ensure(testService(inside), nodes.slice(1))).rejects.toThrow(
      /asks for a private load balancer, and \S+ is public/,
    );
    expect(only(testService()).backendSets['TCP-80']?.backends).toHaveLength(1);
    await remove(testService(inside));
    await ensure(testService(inside));
    await expect(ensure(testService(notes))).rejects.toThrow(/asks for a public load balancer, and \S+ is private/);
  });
  it('is refused, before anything is made, for a port without a node port', async () => {
    for (const kind of [{}, nlb])
      await expect(ensure(testService(kind, { ports: [{ name: 'http', protocol: 'TCP', port: 80 }] }))).rejects.toThrow(
        'port 80 has no node port, which a load balancer needs',
      );
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('waits for its work request, and fails with one that fails late', async () => {
    const { faults } = world.server;
    faults.rates = { ...noRates, operationMs: 5_000 };
    await ensure(testService());
    faults.rates = { ...noRates, operationMs: 5_000, lateFailure: 1 };
    await expect(ensure(testService({}, { ports: [http, https] }))).rejects.toThrow(
      /work request .* failed: the work request failed on request/,
    );
    faults.clear();
    await ensure(testService({}, { ports: [http, https] }));
    expect(Object.keys(only(testService()).listeners)).toEqual(['TCP-80', 'TCP-443']);
  });
  it('begins again with one whose creation failed late', async () => {
    const { faults } = world.server;
    faults.rates = { ...noRates, lateFailure: 1 };
    await expect(ensure(testService())).rejects.toThrow('work request');
    faults.clear();
    expect((await ensure(testService())).ingress).toHaveLength(1);
    only(testService());
  });
  it('waits for what somebody else does to it', async () => {
    const { account, faults } = world.server;
    await ensure(testService());
    const { id } = only(testService());
    account.operations.begin({ kind: 'lb Other', target: id, durationMs: 20_000, work() {} });
    await ensure(testService({}, { ports: [http, https] }));
    expect(Object.keys(only(testService()).listeners)).toHaveLength(2);
    faults.add({ method: 'PUT', path: /backendSets/, status: 409, code: 'IncorrectState', message: 'busy' });
    const busy = await ensure(testService({}, { ports: [http, https] }), nodes.slice(1)).catch((error: unknown) => error);
    expect(retryAfterOf(busy)).toBeGreaterThan(0);
  });
  it('has its address when it is made, also where the API shows it late', async () => {
    world.clock.skip(60_000);
    world.server.faults.rates = { ...noRates, operationMs: 3_000, lagMs: 2_000 };
    expect((await ensure(testService())).ingress).toHaveLength(1);
  });
  it('is done once, however its answer is lost', async () => {
    const { faults } = world.server;
    faults.add({ method: 'POST', path: '/20170115/loadBalancers', status: 500, afterwards: true });
    await ensure(testService());
    only(testService());
  });
  it('makes a new one under another retry token after the old one was deleted', async () => {
    for (let round = 0; round < 3; round++) {
      await ensure(testService());
      only(testService());
      await remove(testService());
    }
    expect(leftoversOf(world.server)).toEqual([]);
  });
});

describe('a Service', () => {
  it.each<[Record<string, string>, Partial<Service['spec']>, string]>([
    [{ [annotation.type]: 'alb' }, {}, annotation.type],
    [{ [annotation.shape]: 'flexible' }, {}, 'requires'],
    [{ [annotation.backendProtocol]: 'UDP' }, {}, "Only 'HTTP', 'TCP' and 'GRPC' protocols supported"],
    [{ [annotation.backendProtocol]: 'GRPC' }, {}, 'SSL configuration cannot be empty for GRPC protocol'],
    [{ [nameFor('lb', 'policy')]: 'RANDOM' }, {}, 'loadbalancer policy "RANDOM" is not valid'],
    [
      { [nameFor('lb', 'healthInterval')]: '10' },
      {},
      'invalid value for health check interval, should be between 1000 and 1800000',
    ],
    [{ ...nlb, [nameFor('nlb', 'healthInterval')]: '2000' }, {}, 'should be between 10000 and 1800000'],
    [
      { ...nlb, [nameFor('nlb', 'listMode')]: 'All' },
      { ports: [{ ...http, protocol: 'UDP' }] },
      "can only be 'None' for UDP protocol",
    ],
    [{}, { ports: [{ ...http, protocol: 'UDP' }] }, 'OCI load balancers do not support UDP'],
    [{}, { sessionAffinity: 'ClientIP' }, 'OCI only supports SessionAffinity "None" currently'],
    [
      { [nameFor('lb', 'internal')]: 'true' },
      { loadBalancerIP: '132.226.0.1' },
      'cannot create a private load balancer with Reserved IP',
    ],
    [{}, { loadBalancerIP: 'somewhere' }, 'provided for LoadBalancerIP'],
    [{ [annotation.reservedIps]: '132.226.0.1,2603::1' }, {}, '"2603::1" is not an IPv4 address'],
    [{ [annotation.reservedIps]: '132.226.0.1,132.226.0.2' }, {}, '2 addresses are more than 1'],
    [{ [annotation.reservedIps]: '132.226.0.1' }, { loadBalancerIP: '132.226.0.2' }, 'contradicts spec.loadBalancerIP'],
    [{ [nameFor('lb', 'internal')]: 'true', [annotation.reservedIps]: '132.226.0.1' }, {}, 'with Reserved IP'],
    [{ ...nlb, [annotation.preserveSource]: 'true' }, {}, 'cannot be set when externalTrafficPolicy is set to Cluster'],
    [{ ...nlb, [annotation.ruleSets]: '{}' }, {}, 'not supported by Network Load Balancer'],
    [{ [annotation.privateIpv4]: '10.1.20.7' }, {}, 'supported only with'],
    [{ [annotation.serviceAccount]: 'web' }, {}, annotation.serviceAccount],
    [{ [annotation.ruleMode]: 'SG' }, {}, `invalid value: SG provided for annotation: ${annotation.ruleMode}`],
    [{ [nameFor('lb', 'groups')]: 'my-group' }, {}, 'invalid NetworkSecurityGroups OCID'],
    [{ [nameFor('lb', 'groups')]: [1, 2, 3, 4, 5, 6].map((n) => `ocid1.nsg.${n}`).join() }, {}, 'Max: 5'],
    [{ [annotation.ipMode]: 'NAT' }, {}, 'IpMode can only be set as Proxy or VIP'],
    [{ [annotation.sslPorts]: 'https' }, {}, 'parse SSL port'],
    [{ [annotation.sslPorts]: '443', [annotation.tlsSecret]: 'nothing' }, { ports: [https] }, 'Secret shop/nothing'],
    [{ [nameFor('lb', 'nodeSelector')]: 'pool in web' }, {}, 'is not a label selector'],
    [{ [nameFor('lb', 'freeformTags')]: 'team=shop' }, {}, 'is not JSON'],
    [{}, { ipFamilies: ['IPv6'] }, 'subnet does not have IPv6 CIDR blocks'],
  ])('that asks for %j %j is refused before anything is made', async (annotations, spec, message) => {
    await expect(ensure(testService(annotations, spec))).rejects.toThrow(message);
    expect(writes()).toBe(0);
    await remove(testService(annotations, spec));
  });
  it('finds its load balancer when its status is lost, and none of others', async () => {
    const { account } = world.server;
    await ensure(testService());
    const theirs = account.put('balancer', {
      ...only(testService()),
      id: account.id('loadbalancer'),
      displayName: `${testServiceUid}-theirs`,
    });
    await reopen();
    expect(await get(testService())).toBeDefined();
    await remove(testService());
    expect(account.of('balancer').filter(({ lifecycleState }) => lifecycleState === 'ACTIVE')).toEqual([theirs]);
  });
  it('that was half made exists, and goes with all that is left', async () => {
    const { faults } = world.server;
    const service = testService({ [annotation.ruleMode]: 'NSG' });
    faults.add({
      method: 'POST',
      path: '/20170115/loadBalancers',
      status: 400,
      code: 'LimitExceeded',
      message: 'no more load balancers',
    });
    await expect(ensure(service)).rejects.toThrow('no more load balancers');
    world.clock.skip(3_600_000);
    expect(await get(service)).toEqual({});
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('is not taken for deleted while what was just made is not shown yet', async () => {
    const { faults } = world.server;
    world.clock.skip(60_000);
    faults.rates = { ...noRates, lagMs: 20_000 };
    await ensure(testService()).catch(() => {});
    expect(await get(testService())).toBeDefined();
    faults.clear();
    await remove(testService());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('that nobody can read is deleted all the same', async () => {
    await ensure(testService());
    await remove(testService({ [annotation.type]: 'nonsense', [annotation.ruleMode]: 'nonsense' }));
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('has the names of its account’s prefix', async () => {
    await reopen({ env: { LOAD_BALANCER_PREFIX: 'prod' } });
    expect(nameOf(testService())).toBe(`prod-${testServiceUid}`);
  });
});

it('throttling becomes a delay of the controller', async () => {
  world.server.faults.add({ status: 429, times: 50, headers: { 'retry-after': '90' } });
  const error = await ensure(testService()).catch((thrown: unknown) => thrown);
  expect(retryAfterOf(error)).toBe(90_000);
});
