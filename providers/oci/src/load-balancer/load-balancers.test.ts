import { testService, testServiceUid } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { http, https, nlb, secret, useBalancers } from '../../test-server/balancer-tests.ts';
import { balancerSubnet, compartment } from '../../test-server/index.ts';
import { annotation, nameFor } from '../annotations.ts';

const { ensure, nodes, only, remove, world } = useBalancers();

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
  it.each([
    ['the Service', {}, { loadBalancerIP: '132.226.250.1' }],
    ['an annotation', { [annotation.reservedIps]: '132.226.250.1' }, {}],
    ['an annotation of a network load balancer', { ...nlb, [annotation.reservedIps]: '132.226.250.1' }, {}],
  ])('takes an address that its owner has reserved, and no other later, by %s', async (_by, notes, spec) => {
    world.server.account.addReservedIp('132.226.250.1');
    const service = testService(notes, spec);
    expect((await ensure(service)).ingress).toContainEqual({ ip: '132.226.250.1' });
    const another = { ...spec, ...('loadBalancerIP' in spec && { loadBalancerIP: '132.226.250.2' }) };
    const anothers = { ...notes, ...(annotation.reservedIps in notes && { [annotation.reservedIps]: '132.226.250.2' }) };
    await expect(ensure(testService(anothers, another))).rejects.toThrow('reserved IP cannot be updated');
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
