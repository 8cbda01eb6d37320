import type { CloudProvider, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates, testService, testServiceUid } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { balancersOf, leftoversOf } from '../../test-server/conformance-world.ts';
import { balancerList, balancerSubnet, compartment, nodeList, nodeSubnet, vcn } from '../../test-server/index.ts';
import { addNodes, openWorld, type TestWorld } from '../../test-server/world.ts';
import { annotation, nameFor } from '../annotations.ts';
import { listRuleMark } from '../names.ts';

let world: TestWorld;
let cloud: CloudProvider;
let nodes: Node[];
beforeEach(async () => {
  world = await openWorld();
  cloud = await world.open();
  nodes = addNodes(world, ['node-a', 'node-b']);
});
afterEach(() => world.server.close());

const balancers = (): LoadBalancer => cloud.loadBalancer as LoadBalancer;
const ensure = (service: Service, on = nodes) => balancers().ensureLoadBalancer('kubernetes', service, on);
const remove = (service: Service) => balancers().ensureLoadBalancerDeleted('kubernetes', service);
const only = (service: Service) => {
  const [found, ...others] = balancersOf(world.server, service);
  expect(others).toEqual([]);
  if (!found) throw new Error('there is none');
  return found;
};
const writes = () =>
  world.server.requests.filter(({ method, url }) => method !== 'GET' && !url.pathname.endsWith('getByIpAddress')).length;
const nlb = { [annotation.type]: 'nlb' };
const https = { name: 'https', protocol: 'TCP', port: 443, nodePort: 30_443 };
const http = { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 };
const rulesIn = (id: string, side: 'ingress' | 'egress'): string[] => {
  const list = world.server.account.must('list', id);
  const all = side === 'ingress' ? list.ingressSecurityRules : list.egressSecurityRules;
  return all
    .map(
      (rule) =>
        `${'source' in rule ? rule.source : (rule as { destination: string }).destination} ${rule.tcpOptions?.destinationPortRange?.min}`,
    )
    .toSorted();
};
const secret = (certificate: string) => ({
  metadata: { name: 'web-tls' },
  data: Object.fromEntries(
    Object.entries({ 'tls.crt': certificate, 'tls.key': 'key' }).map(([name, text]) => [
      name,
      Buffer.from(text).toString('base64'),
    ]),
  ),
});

describe('a load balancer', () => {
  it('is made whole in one request, with upstream’s names', async () => {
    const service = testService();
    const { ingress } = await ensure(service);
    const made = only(service);
    expect(made).toMatchObject({
      kind: 'lb',
      displayName: testServiceUid,
      compartmentId: compartment,
      shapeName: '100Mbps',
      isPrivate: false,
      subnetIds: [balancerSubnet],
      listeners: { 'TCP-80': { port: 80, protocol: 'TCP', defaultBackendSetName: 'TCP-80' } },
      backendSets: {
        'TCP-80': {
          policy: 'ROUND_ROBIN',
          healthChecker: {
            protocol: 'HTTP',
            port: 10_256,
            urlPath: '/healthz',
            retries: 3,
            timeoutInMillis: 3_000,
            intervalInMillis: 10_000,
          },
          backends: nodes.map(({ status }) => ({ ipAddress: status?.addresses?.[0]?.address, port: 30_080, weight: 1 })),
        },
      },
    });
    expect(ingress).toEqual([{ ip: made.ipAddresses[0]?.ipAddress }]);
    const creations = world.server.requests.filter(
      ({ method, url }) => method === 'POST' && url.pathname === '/20170115/loadBalancers',
    );
    expect(creations.map(({ headers }) => headers['opc-retry-token'])).toEqual([testServiceUid]);
  });
  it('is as its annotations say', async () => {
    const service = testService(
      {
        [annotation.shape]: 'Flexible',
        [annotation.shapeMin]: '5',
        [annotation.shapeMax]: '100Mbps',
        [annotation.backendProtocol]: 'http',
        [annotation.idleTimeout]: '120',
        [nameFor('lb', 'policy')]: 'IP_HASH',
        [nameFor('lb', 'healthRetries')]: '5',
        [nameFor('lb', 'healthInterval')]: '2000',
        [nameFor('lb', 'healthTimeout')]: '1000',
        [nameFor('lb', 'freeformTags')]: '{"team":"shop"}',
        [nameFor('lb', 'definedTags')]: '{"cost":{"center":"42"}}',
        [annotation.ipMode]: 'proxy',
      },
      { ports: [http] },
    );
    const { ingress = [] } = await ensure(service);
    expect(ingress.map(({ ipMode }) => ipMode)).toEqual(['Proxy']);
    expect(only(service)).toMatchObject({
      shapeName: 'flexible',
      shapeDetails: { minimumBandwidthInMbps: 10, maximumBandwidthInMbps: 100 },
      listeners: { 'HTTP-80': { protocol: 'HTTP', connectionConfiguration: { idleTimeout: 120 } } },
      backendSets: {
        'TCP-80': { policy: 'IP_HASH', healthChecker: { retries: 5, intervalInMillis: 2_000, timeoutInMillis: 1_000 } },
      },
      freeformTags: { team: 'shop' },
      definedTags: { cost: { center: '42' } },
    });
  });
  it('speaks the PROXY protocol to its backends, with the idle timeout that it then needs', async () => {
    const service = testService({ [annotation.proxyProtocol]: '2' });
    await ensure(service);
    expect(only(service).listeners['TCP-80']?.connectionConfiguration).toEqual({
      idleTimeout: 300,
      backendTcpProxyProtocolVersion: 2,
    });
  });
  it('is only found inside when internal', async () => {
    const service = testService({ [nameFor('lb', 'internal')]: 'true' });
    const { ingress } = await ensure(service);
    expect(only(service).isPrivate).toBe(true);
    expect(ingress?.[0]?.ip).toMatch(/^10\.1\./);
  });
  it('ends TLS with the certificate of a Secret, and with the new one when that changes', async () => {
    world.cluster.objects.set('secrets web-tls', secret('first') as never);
    const service = testService({ [annotation.sslPorts]: '443', [annotation.tlsSecret]: 'web-tls' }, { ports: [http, https] });
    await ensure(service);
    const [name] = Object.keys(only(service).certificates);
    expect(only(service).listeners['TCP-443']?.sslConfiguration).toMatchObject({
      certificateName: name,
      verifyPeerCertificate: false,
    });
    expect(only(service).listeners['TCP-80']?.sslConfiguration).toBeUndefined();

    world.cluster.objects.set('secrets web-tls', secret('second') as never);
    await ensure(service);
    const [other, ...more] = Object.keys(only(service).certificates);
    expect(more).toEqual([]);
    expect(other).not.toBe(name);
    expect(only(service).listeners['TCP-443']?.sslConfiguration?.certificateName).toBe(other);
  });
  it('speaks TLS to its backends, with ciphers that are asked for, and asks for their health in plain HTTP', async () => {
    world.cluster.objects.set('secrets web-tls', secret('first') as never);
    const ciphers = '{"CipherSuiteName":"oci-default-http2-ssl-cipher-suite-v1","Protocols":["TLSv1.2"]}';
    const service = testService(
      { [annotation.sslPorts]: '443', [annotation.tlsBackendSecret]: 'shop/web-tls', [annotation.backendSsl]: ciphers },
      { ports: [https] },
    );
    await ensure(service);
    const set = only(service).backendSets['TCP-443'];
    expect(set?.sslConfiguration).toMatchObject({
      cipherSuiteName: 'oci-default-http2-ssl-cipher-suite-v1',
      protocols: ['TLSv1.2'],
    });
    expect(set?.healthChecker.isForcePlainText).toBe(true);
  });
  it('has the rule sets that its annotation names, and loses those that it does not name any more', async () => {
    const items = [{ action: 'ADD_HTTP_REQUEST_HEADER', header: 'x-from', value: 'oci' }];
    const asks = (sets: object) =>
      testService({ [annotation.backendProtocol]: 'HTTP', [annotation.ruleSets]: JSON.stringify(sets) });
    await ensure(asks({ first: { items } }));
    expect(only(asks({})).listeners['HTTP-80']?.ruleSetNames).toEqual(['first']);
    await ensure(asks({ second: { items } }));
    expect(Object.keys(only(asks({})).ruleSets)).toEqual(['second']);
    await ensure(testService({ [annotation.backendProtocol]: 'HTTP' }));
    expect(Object.keys(only(asks({})).ruleSets)).toEqual(['second']);
  });
  it('asks the health port of a Service with traffic policy Local', async () => {
    const service = testService({}, { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_999 });
    await ensure(service);
    expect(only(service).backendSets['TCP-80']?.healthChecker).toMatchObject({ port: 31_999, urlPath: '/healthz' });
  });
  it('takes an address that its owner has reserved, and no other later', async () => {
    world.server.account.addReservedIp('132.226.250.1');
    const service = testService({}, { loadBalancerIP: '132.226.250.1' });
    expect((await ensure(service)).ingress).toEqual([{ ip: '132.226.250.1' }]);
    await expect(ensure(testService({}, { loadBalancerIP: '132.226.250.2' }))).rejects.toThrow('reserved IP cannot be updated');
    await remove(service);
    expect(world.server.account.of('publicIp')[0]?.lifecycleState).toBe('AVAILABLE');
  });
  it('changes its shape, and stays flexible once it is', async () => {
    await ensure(testService());
    const flexible = { [annotation.shape]: 'flexible', [annotation.shapeMin]: '10', [annotation.shapeMax]: '50' };
    await ensure(testService(flexible));
    expect(only(testService())).toMatchObject({ shapeName: 'flexible', shapeDetails: { maximumBandwidthInMbps: 50 } });
    await ensure(testService());
    expect(only(testService()).shapeName).toBe('flexible');
    await expect(ensure(testService({ [annotation.shape]: '100Mbps' }))).rejects.toThrow('cannot convert LB shape from flexible');
  });
  it('sends only to nodes that the selector chooses', async () => {
    const labelled = nodes.map((node, at) => ({
      ...node,
      metadata: { ...node.metadata, labels: { pool: at === 0 ? 'web' : 'other' } },
    }));
    const service = testService({ [nameFor('lb', 'nodeSelector')]: 'pool in (web, front),!gpu' });
    await ensure(service, labelled);
    expect(only(service).backendSets['TCP-80']?.backends).toHaveLength(1);
  });
  it('is in the subnets that are named: a regional one alone, those of single domains in two', async () => {
    const { account } = world.server;
    for (const domain of ['AD-1', 'AD-2'])
      account.put('subnet', {
        ...account.must('subnet', balancerSubnet),
        id: `ocid1.subnet.oc1.phx.${domain}`,
        availabilityDomain: domain,
      });
    const pair = { [annotation.subnet1]: 'ocid1.subnet.oc1.phx.AD-1', [annotation.subnet2]: 'ocid1.subnet.oc1.phx.AD-2' };
    await ensure(testService(pair));
    expect(only(testService()).subnetIds).toEqual(Object.values(pair));
  });
});

describe('a network load balancer', () => {
  it('serves TCP and UDP, by upstream’s names', async () => {
    const dns = { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 };
    const both = { name: 'dns-tcp', protocol: 'TCP', port: 53, nodePort: 30_053 };
    const service = testService(nlb, { ports: [http, dns, both] });
    await ensure(service);
    expect(only(service)).toMatchObject({
      kind: 'nlb',
      displayName: `shop/web/${testServiceUid}`,
      subnetIds: [balancerSubnet],
      nlbIpVersion: 'IPV4',
      listeners: {
        'TCP-80': { protocol: 'TCP' },
        'TCP_AND_UDP-53': { protocol: 'TCP_AND_UDP', defaultBackendSetName: 'TCP_AND_UDP-53' },
      },
      backendSets: { 'TCP-80': { policy: 'FIVE_TUPLE', isPreserveSource: false } },
    });
  });
  it('keeps clients’ addresses with traffic policy Local, unless it is told not to', async () => {
    const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_999 };
    await ensure(testService(nlb, local));
    expect(only(testService(nlb)).backendSets['TCP-80']?.isPreserveSource).toBe(true);
    await ensure(testService({ ...nlb, [annotation.preserveSource]: 'false', [annotation.ppv2]: 'true' }, local));
    expect(only(testService(nlb)).backendSets['TCP-80']?.isPreserveSource).toBe(false);
    expect(only(testService(nlb)).listeners['TCP-80']?.isPpv2Enabled).toBe(true);
  });
  it('shows its public address alone where that is asked for', async () => {
    expect((await ensure(testService(nlb))).ingress).toHaveLength(2);
    const { ingress = [] } = await ensure(testService({ ...nlb, [annotation.externalOnly]: 'true' }));
    expect(ingress.map(({ ip }) => ip?.split('.')[0])).toEqual(['132']);
  });
  it('serves a second address family when the Service gets one, and gives it up again', async () => {
    const { account } = world.server;
    account.put('subnet', { ...account.must('subnet', balancerSubnet), ipv6CidrBlocks: ['fd00:1::/64'] });
    const dual = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' };
    await ensure(testService(nlb, { ipFamilies: ['IPv4'] }));
    await ensure(testService(nlb, dual));
    expect(only(testService(nlb))).toMatchObject({
      nlbIpVersion: 'IPV4_AND_IPV6',
      listeners: { 'TCP-80-IPv6': { ipVersion: 'IPV6' } },
    });
    await ensure(testService(nlb, { ipFamilies: ['IPv4'] }));
    expect(only(testService(nlb)).nlbIpVersion).toBe('IPV4');
    expect(Object.keys(only(testService(nlb)).listeners)).toEqual(['TCP-80']);
  });
  it('takes the place of a load balancer of the other kind, which goes', async () => {
    await ensure(testService());
    await ensure(testService(nlb));
    expect(only(testService(nlb)).kind).toBe('nlb');
  });
  it('leaves out a node whose instance went between two calls', async () => {
    await ensure(testService(nlb), nodes.slice(0, 1));
    world.server.faults.add({ method: 'PUT', path: /backendSets/, then: () => world.server.account.removeInstance('node-b') });
    await ensure(testService(nlb), nodes).catch(() => {});
    await ensure(testService(nlb), nodes);
    expect(only(testService(nlb)).backendSets['TCP-80']?.backends).toHaveLength(1);
  });
});

describe('rules', () => {
  it('in security lists let clients in, and the load balancer to the nodes', async () => {
    const service = testService({}, { loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/24'] });
    await ensure(service);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['198.51.100.0/24 80', '203.0.113.0/24 80']);
    expect(rulesIn(balancerList, 'egress')).toEqual(['10.0.10.0/16 10256', '10.0.10.0/16 30080']);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);

    await ensure(testService({}, { loadBalancerSourceRanges: ['203.0.113.0/24'], ports: [{ ...http, nodePort: 30_081 }] }));
    expect(rulesIn(balancerList, 'ingress')).toEqual(['203.0.113.0/24 80']);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30081']);
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('stay while another load balancer needs them, also one that no Service knows', async () => {
    const [first, second] = [testService(), testService({}, {}, { name: 'other', uid: 'other-uid' })];
    await ensure(first);
    await ensure(second);
    await remove(first);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
    cloud = await world.open();
    await remove(second);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('of others stay as they are, whatever their ports', async () => {
    const { account } = world.server;
    const theirs = {
      protocol: '6',
      source: '192.0.2.0/24',
      tcpOptions: { destinationPortRange: { min: 80, max: 80 } },
      description: 'theirs',
    };
    account.put('list', { ...account.must('list', balancerList), ingressSecurityRules: [theirs] });
    await ensure(testService());
    await remove(testService());
    expect(account.must('list', balancerList).ingressSecurityRules).toEqual([theirs]);
  });
  it('are for the front only, or none, where that is asked for', async () => {
    await ensure(testService({ [nameFor('lb', 'listMode')]: 'Frontend' }));
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
    expect([...rulesIn(balancerList, 'egress'), ...rulesIn(nodeList, 'ingress')]).toEqual([]);
    const none = testService({ [annotation.ruleMode]: 'None' }, { ports: [https] }, { name: 'other', uid: 'other' });
    await ensure(none);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
  });
  it('are written anew when somebody else writes in between', async () => {
    const { account, faults } = world.server;
    const theirs = { protocol: '17', source: '192.0.2.0/24', description: 'theirs' };
    faults.add({
      method: 'PUT',
      path: /securityLists/,
      then: () => {
        const list = account.must('list', balancerList);
        account.put('list', { ...list, ingressSecurityRules: [theirs], etag: '77' });
      },
    });
    await ensure(testService());
    expect(account.must('list', balancerList).ingressSecurityRules.map(({ description }) => description)).toEqual([
      'theirs',
      listRuleMark('kubernetes'),
    ]);
  });
  it('are in a network security group of the Service, and in those of nodes that it names', async () => {
    const { account } = world.server;
    const group = account.put('group', {
      id: 'ocid1.networksecuritygroup.oc1.phx.nodes',
      compartmentId: compartment,
      vcnId: vcn,
      lifecycleState: 'AVAILABLE',
      etag: '1',
    });
    const asks = { [annotation.ruleMode]: 'NSG', [annotation.backendGroups]: group.id };
    const service = testService(asks);
    await ensure(service);
    const own = account.of('group').find(({ displayName }) => displayName === `shop/web/${testServiceUid}/nsg`);
    expect(only(service).networkSecurityGroupIds).toEqual([own?.id]);
    const texts = () =>
      account
        .of('groupRule')
        .map(
          (rule) =>
            `${rule.group === group.id ? 'nodes' : 'own'} ${rule.direction} ${rule.tcpOptions?.destinationPortRange?.min}`,
        )
        .toSorted();
    expect(texts()).toEqual([
      'nodes INGRESS 10256',
      'nodes INGRESS 30080',
      'own EGRESS 10256',
      'own EGRESS 30080',
      'own INGRESS 80',
    ]);
    expect(account.must('group', group.id).freeformTags).toEqual({ ManagedBy: 'CCM' });
    expect(rulesIn(balancerList, 'ingress')).toEqual([]);

    await ensure(testService({ [annotation.ruleMode]: 'NSG' }));
    expect(texts()).toEqual(['own INGRESS 80']);
    await remove(testService(asks));
    expect(account.of('group')).toEqual([account.must('group', group.id)]);
    expect(account.of('groupRule')).toEqual([]);
  });
  it('go from security lists when they move to a group of its own, or to nobody', async () => {
    const frontend = { [nameFor('lb', 'listMode')]: 'Frontend' };
    for (const elsewhere of [{ [annotation.ruleMode]: 'NSG' }, { [annotation.ruleMode]: 'None' }, frontend]) {
      await ensure(testService());
      await ensure(testService(elsewhere));
      expect(rulesIn(nodeList, 'ingress')).toEqual([]);
      expect(rulesIn(balancerList, 'egress')).toEqual([]);
      expect(rulesIn(balancerList, 'ingress')).toEqual(elsewhere === frontend ? ['0.0.0.0/0 80'] : []);
      await remove(testService(elsewhere));
      expect(leftoversOf(world.server)).toEqual([]);
    }
  });
  it('move from a group of its own to security lists', async () => {
    await ensure(testService({ [annotation.ruleMode]: 'NSG' }));
    await ensure(testService());
    expect(world.server.account.of('group')).toEqual([]);
    expect(only(testService()).networkSecurityGroupIds).toEqual([]);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
  });
});

describe('a change', () => {
  it('costs no write when there is none', async () => {
    world.cluster.objects.set('secrets web-tls', secret('first') as never);
    const service = testService({ [annotation.sslPorts]: '443', [annotation.tlsSecret]: 'web-tls' }, { ports: [http, https] });
    await ensure(service);
    const before = writes();
    await ensure(service);
    await balancers().updateLoadBalancer('kubernetes', service, nodes);
    expect(writes()).toBe(before);
  });
  it('keeps the address and the other ports when one port changes its protocol', async () => {
    const first = await ensure(testService({}, { ports: [http] }));
    const second = await ensure(testService({ [annotation.backendProtocol]: 'HTTP' }, { ports: [http, https] }));
    expect(second).toEqual(first);
    expect(Object.keys(only(testService()).listeners).toSorted()).toEqual(['HTTP-443', 'HTTP-80']);
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
    cloud = await world.open();
    expect(await balancers().getLoadBalancer('kubernetes', testService())).toBeDefined();
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
    expect(await balancers().getLoadBalancer('kubernetes', service)).toEqual({});
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('is not taken for deleted while what was just made is not shown yet', async () => {
    const { faults } = world.server;
    world.clock.skip(60_000);
    faults.rates = { ...noRates, lagMs: 20_000 };
    await ensure(testService()).catch(() => {});
    expect(await balancers().getLoadBalancer('kubernetes', testService())).toBeDefined();
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
    cloud = await world.open({ env: { LOAD_BALANCER_PREFIX: 'prod' } });
    expect(balancers().getLoadBalancerName('kubernetes', testService())).toBe(`prod-${testServiceUid}`);
  });
});

it('throttling becomes a delay of the controller', async () => {
  world.server.faults.add({ status: 429, times: 50, headers: { 'retry-after': '90' } });
  const error = await ensure(testService()).catch((thrown: unknown) => thrown);
  expect(retryAfterOf(error)).toBe(90_000);
});

it('nodes in another subnet open that subnet’s list as well', async () => {
  const { account } = world.server;
  const id = 'ocid1.subnet.oc1.phx.more';
  account.put('list', { ...account.must('list', nodeList), id: 'ocid1.securitylist.oc1.phx.more' });
  account.put('subnet', { ...account.must('subnet', nodeSubnet), id, securityListIds: ['ocid1.securitylist.oc1.phx.more'] });
  await ensure(testService());
  await balancers().updateLoadBalancer('kubernetes', testService(), [...nodes, ...addNodes(world, ['node-c'], { subnet: id })]);
  expect(rulesIn('ocid1.securitylist.oc1.phx.more', 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);
  await remove(testService());
  expect(leftoversOf(world.server)).toEqual([]);
});
