// NodeBalancers over HTTP against the local server: what they are made of, what changes in place, what is left of failures.
import type { CloudProvider, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstCertificate, secondCertificate } from '../../test-server/certificates.ts';
import { backendsOf, leftoversOf, listenersOf } from '../../test-server/conformance-world.ts';
import {
  addNodes,
  label,
  type OpenOptions,
  openWorld,
  region,
  serviceUid,
  serviceWith,
  type TestWorld,
} from '../../test-server/world.ts';
import { serviceTag } from '../names.ts';

let world: TestWorld;
let cloud: CloudProvider;
let balancers: LoadBalancer;
beforeEach(async () => {
  world = await openWorld();
  await reopen();
});
afterEach(() => world.server.close());

async function reopen(options: OpenOptions = {}): Promise<void> {
  cloud = await world.open(options);
  balancers = cloud.loadBalancer as LoadBalancer;
}
const ensure = (service: Service, nodes: readonly Node[]) => balancers.ensureLoadBalancer('kubernetes', service, nodes);
const update = (service: Service, nodes: readonly Node[]) => balancers.updateLoadBalancer('kubernetes', service, nodes);
const remove = (service: Service) => balancers.ensureLoadBalancerDeleted('kubernetes', service);
const get = (service: Service) => balancers.getLoadBalancer('kubernetes', service);
const one = () => {
  const all = world.server.account.of('balancer');
  expect(all.map((balancer) => balancer.label)).toHaveLength(1);
  return all[0] as (typeof all)[number];
};
const firewallOf = (balancer: number) => {
  const { account } = world.server;
  return account
    .of('device')
    .filter((device) => device.balancer === balancer)
    .map(({ firewall }) => account.get('firewall', firewall)?.label);
};
const writes = async <T>(work: () => Promise<T>): Promise<{ answer: T; done: string[] }> => {
  world.server.requests.length = 0;
  const answer = await work();
  const changes = world.server.requests.filter(({ method }) => method !== 'GET');
  return {
    answer,
    done: changes.map(({ method, url }) => `${method} ${url.pathname.replace('/v4/', '').replaceAll(/\d+/g, '#')}`),
  };
};
const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );
const acl = (...ipv4: string[]) => ({ 'firewall-acl': JSON.stringify({ allowList: { ipv4 } }) });

describe('a NodeBalancer', () => {
  it('is made whole in one request', async () => {
    const service = serviceWith({ tags: 'web,shop', throttle: '5' });
    const { answer, done } = await writes(() => ensure(service, addNodes(world, ['node-a', 'b'])));
    expect(done).toEqual(['POST nodebalancers']);
    const made = one();
    expect(made).toMatchObject({ label, region, type: 'common', client_conn_throttle: 5 });
    expect(label).toMatch(/^ccm-[0-9a-f]{12}$/);
    expect(made.tags).toEqual(['kubernetes', 'web', 'shop', `k8s-service:${serviceUid}`]);
    expect(answer).toEqual({ ingress: [{ hostname: made.hostname, ip: made.ipv4 }] });
    expect(world.server.account.of('config')).toMatchObject([
      {
        port: 80,
        protocol: 'tcp',
        proxy_protocol: 'none',
        algorithm: 'roundrobin',
        check: 'connection',
        check_interval: 5,
        check_timeout: 3,
        check_attempts: 2,
        check_passive: true,
      },
    ]);
    expect(world.server.account.of('node')).toMatchObject([
      { label: 'node-a', address: expect.stringMatching(/^192\.168\.\d+\.\d+:30080$/), weight: 100, mode: 'accept' },
      { label: 'node-b' },
    ]);
  });
  it('costs no write when nothing has changed', async () => {
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const service = serviceWith({ ...acl('198.51.100.0/24'), tags: 'x-1,y-2' });
    const first = await ensure(service, nodes);
    expect(await writes(() => ensure(service, nodes))).toEqual({ answer: first, done: [] });
    expect((await writes(() => update(service, nodes.toReversed()))).done).toEqual([]);
  });
  it('keeps its address, its nodes and its other ports when one port changes', async () => {
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const port = (number: number, more = {}) => ({
      name: `p${number}`,
      protocol: 'TCP',
      port: number,
      nodePort: 30_000 + number,
      ...more,
    });
    const before = await ensure(serviceWith({}, { ports: [port(80), port(81)] }), nodes);
    const ids = world.server.account
      .of('node')
      .filter(({ address }) => address.endsWith(':30080'))
      .map(({ id }) => id);
    const changed = serviceWith({ 'check-type': 'http', 'check-path': '/up' }, { ports: [port(80), port(443)] });
    const { answer, done } = await writes(() => ensure(changed, nodes));
    expect(answer).toEqual(before);
    expect(done).toEqual([
      'DELETE nodebalancers/#/configs/#',
      'POST nodebalancers/#/configs/#/rebuild',
      'POST nodebalancers/#/configs',
    ]);
    expect(world.server.account.of('config')).toMatchObject([{ port: 80, check: 'http', check_path: '/up' }, { port: 443 }]);
    expect(ids.every((id) => world.server.account.get('node', id))).toBe(true);
  });
  it('loses nodes one by one when none is left, and gets them back', async () => {
    const nodes = addNodes(world, ['node-a', 'node-b']);
    await ensure(serviceWith(), nodes);
    expect((await writes(() => update(serviceWith({ 'check-attempts': '4' }), []))).done).toEqual([
      'PUT nodebalancers/#/configs/#',
      'DELETE nodebalancers/#/configs/#/nodes/#',
      'DELETE nodebalancers/#/configs/#/nodes/#',
    ]);
    await update(serviceWith(), nodes);
    expect(backendsOf(world.server, serviceWith())).toEqual(['node-a', 'node-b']);
  });
  it('serves TCP, UDP and HTTP together', async () => {
    const ports = [
      { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 },
      { name: 'tcp', protocol: 'TCP', port: 53, nodePort: 30_054 },
      { name: 'web', protocol: 'TCP', port: 80, nodePort: 30_080 },
    ];
    const service = serviceWith(
      { 'port-80': '{"protocol":"http","stickiness":"http_cookie"}', 'udp-check-port': '10256' },
      { ports },
    );
    await ensure(service, addNodes(world, ['node-a']));
    expect(listenersOf(world.server, service)).toEqual(['UDP 53 30053', 'TCP 53 30054', 'TCP 80 30080']);
    expect(world.server.account.of('config')).toMatchObject([
      { protocol: 'udp', stickiness: 'session', check: 'none', check_passive: false, udp_check_port: 10_256 },
      { protocol: 'tcp', stickiness: 'none' },
      { protocol: 'http', stickiness: 'http_cookie' },
    ]);
  });
  it('is left as it is, type and address, with an event, when other ones are asked for', async () => {
    const { address } = world.server.account.reserveAddress(region);
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(serviceWith({ 'reserved-ipv4': address, 'nodebalancer-type': 'Premium' }), nodes);
    expect([before.ingress?.[0]?.ip, one().type]).toEqual([address, 'premium']);
    expect(await ensure(serviceWith({ 'reserved-ipv4': '203.0.113.9', 'nodebalancer-type': 'common' }), nodes)).toEqual(before);
    expect(world.cluster.events).toMatchObject([
      { reason: 'NodeBalancerIPChangeIgnored', message: expect.stringContaining(`It will remain ${address}`) },
      { reason: 'NodeBalancerTypeChangeIgnored' },
    ]);
    await remove(serviceWith({ 'reserved-ipv4': address }));
    expect(world.server.account.of('address')).toMatchObject([{ address, reserved: true }]);
  });
  it('gives its reserved address back when it is told to', async () => {
    const { address } = world.server.account.reserveAddress(region);
    const service = serviceWith({ 'reserved-ipv4': address, 'retain-reserved-ipv4': 'false' });
    await ensure(service, addNodes(world, ['node-a']));
    await remove(service);
    expect(world.server.account.of('address')).toMatchObject([{ reserved: false }]);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it.each([
    [{ 'hostname-only-ingress': 'true' }, {}, ['hostname']],
    [{}, { env: { LINODE_HOSTNAME_ONLY_INGRESS: '1' } }, ['hostname']],
    [{ 'hostname-only-ingress': 'nonsense' }, { env: { LINODE_HOSTNAME_ONLY_INGRESS: '1' } }, ['hostname ip']],
    [{ 'enable-ipv6-ingress': 'True' }, {}, ['hostname ip', 'hostname ip']],
    [{}, { flags: { ipv6Ingress: true } }, ['hostname ip', 'hostname ip']],
    [{ 'enable-ipv6-ingress': 'false' }, { flags: { ipv6Ingress: true } }, ['hostname ip']],
  ])('with %j and %j shows itself so: %j', async (annotations, options: OpenOptions, expected) => {
    await reopen(options);
    const { ingress = [] } = await ensure(serviceWith(annotations), addNodes(world, ['node-a']));
    expect(ingress.map((entry) => Object.keys(entry).join(' '))).toEqual(expected);
  });
});

describe('a Service', () => {
  it.each([
    [{ 'default-protocol': 'sctp' }, 'invalid protocol: "sctp" specified'],
    [{ 'default-proxy-protocol': 'v3' }, 'invalid NodeBalancer proxy protocol value: "v3" specified'],
    [{ 'default-algorithm': 'ring_hash' }, 'invalid algorithm: "ring_hash" specified for TCP/HTTP/HTTPS protocol'],
    [
      { 'default-protocol': 'http', 'default-stickiness': 'session' },
      'invalid stickiness: "session" specified for HTTP protocol',
    ],
    [{ 'default-protocol': 'udp', 'default-proxy-protocol': 'v1' }, 'proxy protocol [v1] is not supported for UDP'],
    [{ 'default-protocol': 'udp', 'udp-check-port': '0' }, 'UDPCheckPort must be between 1 and 65535, got 0'],
    [{ 'port-80': '{' }, 'port-80: "{" is not JSON'],
    [{ 'port-80': '{"udp-check-port":80}' }, 'udp-check-port must be a text'],
    [{ 'port-80': '{"protocol":"https"}' }, 'TLS secret name for port 80 is not specified'],
    [{ 'port-80': '{"protocol":"udp","tls-secret-name":"x"}' }, 'specifying TLS secret name is not supported for UDP'],
    [{ 'check-type': 'ping' }, 'check-type: "ping" is not one of none, connection, http, http_body'],
    [{ 'check-type': 'http_body' }, 'for health check type http_body need body regex annotation'],
    [{ 'check-interval': '1' }, 'check-interval: "1" is not between 2 and 3600'],
    [{ 'check-timeout': 'x' }, 'check-timeout: "x" is not an integer'],
    [{ 'check-passive': 'perhaps' }, 'check-passive: "perhaps" is not a boolean'],
    [{ throttle: 'much' }, 'throttle: "much" is not an integer'],
    [{ 'nodebalancer-type': 'huge' }, 'nodebalancer-type: "huge" is not one of common, premium, premium_40gb'],
    [{ 'nodebalancer-id': 'mine' }, 'nodebalancer-id: "mine" is not an integer'],
    [{ 'firewall-id': '-1' }, 'firewall-id: "-1" is not between'],
    [{ 'firewall-acl': '{}' }, 'specify either an allowList or a denyList for a firewall'],
    [{ 'firewall-acl': '{"allowList":{"ipv4":"x"}}' }, 'ipv4 and ipv6 must be lists of addresses'],
    [{ 'backend-vpc-name': 'x' }, 'CCM not configured with VPC, cannot create NodeBalancer with specified annotation'],
    [
      { 'frontend-ipv4-range': '10.0.0.0/30' },
      'frontend VPC configuration requires either subnet-id or both vpc-name and subnet-name',
    ],
    [{ 'frontend-subnet-id': '1', 'frontend-ipv6-range': 'x' }, 'frontend-ipv6-range: "x" is not a range'],
  ])('that asks for %j is refused before anything is made', async (annotations, words) => {
    const error = await rejection(ensure(serviceWith(annotations), addNodes(world, ['node-a'])));
    expect(error.message).toContain('load balancer of shop/web: ');
    expect(error.message).toContain(words);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('whose clients are to stay gets an algorithm by their address', async () => {
    await ensure(serviceWith({}, { sessionAffinity: 'ClientIP' }), addNodes(world, ['node-a']));
    expect(world.server.account.of('config')).toMatchObject([{ algorithm: 'source' }]);
    await ensure(serviceWith({ 'default-algorithm': 'leastconn' }, { sessionAffinity: 'ClientIP' }), []);
    expect(world.server.account.of('config')).toMatchObject([{ algorithm: 'leastconn' }]);
  });
  it('with traffic policy Local is checked on its node port, which answers where it has endpoints', async () => {
    const service = serviceWith({}, { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 });
    await ensure(service, addNodes(world, ['node-a']));
    expect([listenersOf(world.server, service), world.server.account.of('config')[0]?.check]).toEqual([
      ['TCP 80 30080'],
      'connection',
    ]);
  });
});

describe('TLS ends at the NodeBalancer', () => {
  const secret = (certificate: string) => {
    const data = { 'tls.crt': certificate, 'tls.key': 'the key that belongs to it' };
    const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
    return { metadata: { name: 'web-tls' }, data: Object.fromEntries(encoded) as Record<string, string> };
  };
  const service = serviceWith({ 'port-80': '{"protocol":"https","tls-secret-name":"web-tls"}' });
  it('with the certificate of a Secret, which is sent again only when it is another one', async () => {
    const nodes = addNodes(world, ['node-a']);
    world.cluster.objects.set('secrets web-tls', secret(firstCertificate));
    await ensure(service, nodes);
    const [before] = world.server.account.of('config');
    expect(before).toMatchObject({
      protocol: 'https',
      stickiness: 'table',
      ssl_fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){19}/),
    });
    expect((await writes(() => ensure(service, nodes))).done).toEqual([]);
    world.cluster.objects.set('secrets web-tls', secret(secondCertificate));
    expect((await writes(() => ensure(service, nodes))).done).toEqual(['POST nodebalancers/#/configs/#/rebuild']);
    expect(world.server.account.of('config')[0]?.ssl_fingerprint).not.toBe(before?.ssl_fingerprint);
  });
  it('and a Secret that is missing or empty is told', async () => {
    const nodes = addNodes(world, ['node-a']);
    expect((await rejection(ensure(service, nodes))).message).toContain('Secret shop/web-tls: secrets "web-tls" not found');
    world.cluster.objects.set('secrets web-tls', { metadata: { name: 'web-tls' }, data: { 'tls.crt': '' } });
    expect((await rejection(ensure(service, nodes))).message).toContain('Secret shop/web-tls has no tls.crt and tls.key');
    world.cluster.objects.set('secrets web-tls', {
      metadata: { name: 'web-tls' },
      data: { 'tls.crt': 'eA==', 'tls.key': 'eA==' },
    });
    expect((await rejection(ensure(service, nodes))).message).toContain('tls.crt of Secret shop/web-tls is not a certificate');
  });
});

describe('firewalls', () => {
  const nodesA = () => addNodes(world, ['node-a']);
  it('let in whom the Service names, by list or by source ranges', async () => {
    const nodes = nodesA();
    await ensure(serviceWith(acl('198.51.100.0/24')), nodes);
    const [firewall] = world.server.account.of('firewall');
    expect(firewall).toMatchObject({ label, tags: one().tags, rules: { inbound_policy: 'DROP', outbound_policy: 'ACCEPT' } });
    expect(firewall?.rules.inbound).toEqual([
      {
        action: 'ACCEPT',
        label: 'ACCEPT-web',
        description: `Created by linode-ccm: ${label}, for web`,
        protocol: 'TCP',
        ports: '80',
        addresses: { ipv4: ['198.51.100.0/24'] },
      },
    ]);
    expect(firewallOf(one().id)).toEqual([label]);
    const ranged = serviceWith({}, { loadBalancerSourceRanges: ['203.0.113.0/24', '2001:db8::/32'] });
    expect((await writes(() => ensure(ranged, nodes))).done).toEqual(['PUT networking/firewalls/#/rules']);
    expect(world.server.account.of('firewall')[0]?.rules.inbound[0]?.addresses).toEqual({
      ipv4: ['203.0.113.0/24'],
      ipv6: ['2001:db8::/32'],
    });
    const denied = serviceWith({ 'firewall-acl': '{"denyList":{"ipv4":["203.0.113.0/24"]}}' });
    await ensure(denied, nodes);
    expect(world.server.account.of('firewall')[0]?.rules).toMatchObject({
      inbound_policy: 'ACCEPT',
      inbound: [{ action: 'DROP' }],
    });
    await ensure(serviceWith(), nodes);
    expect(world.server.account.of('firewall')).toEqual([]);
  });
  it('have as many rules as long lists and many ports need, and no more than the API takes', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, number) => `10.${number >> 8}.${number & 255}.0/24`);
    const ports = Array.from({ length: 20 }, (_, number) => ({
      name: `p${number}`,
      protocol: 'TCP',
      port: 8_000 + number,
      nodePort: 30_100 + number,
    }));
    await ensure(serviceWith(acl(...many(600)), { ports }), nodesA());
    const [firewall] = world.server.account.of('firewall');
    expect(firewall?.rules.inbound.map(({ ports: some, addresses }) => [some.split(',').length, addresses.ipv4?.length])).toEqual(
      [
        [15, 255],
        [15, 255],
        [15, 90],
        [5, 255],
        [5, 255],
        [5, 90],
      ],
    );
    const error = await rejection(ensure(serviceWith(acl(...many(7_000))), []));
    expect(error.message).toContain('too many IPs in this ACL, will exceed rules per firewall limit');
  });
  it('of the user are attached and detached, and never changed or deleted', async () => {
    const nodes = nodesA();
    const { account } = world.server;
    const rules = { inbound: [], inbound_policy: 'DROP' as const, outbound: [], outbound_policy: 'ACCEPT' as const };
    const [mine, other] = ['mine', 'other'].map((name) =>
      account.put('firewall', { id: account.id(), label: name, tags: [], rules, status: 'enabled' }),
    );
    await ensure(serviceWith({ 'firewall-id': String(mine?.id) }), nodes);
    expect(firewallOf(one().id)).toEqual(['mine']);
    await ensure(serviceWith({ 'firewall-id': String(other?.id) }), nodes);
    expect(firewallOf(one().id)).toEqual(['other']);
    await ensure(serviceWith(acl('198.51.100.0/24')), nodes);
    expect(firewallOf(one().id)).toEqual([label]);
    await ensure(serviceWith({ 'firewall-id': String(mine?.id), ...acl('198.51.100.0/24') }), nodes);
    expect([firewallOf(one().id), account.of('firewall').length]).toEqual([['mine'], 2]);
    await ensure(serviceWith(), nodes);
    expect(firewallOf(one().id)).toEqual([]);
    account.put('device', { id: account.id(), firewall: mine?.id as number, balancer: one().id });
    await ensure(serviceWith(), nodes);
    expect(firewallOf(one().id)).toEqual(['mine']);
    await remove(serviceWith());
    expect(account.of('firewall')).toEqual([mine, other]);
  });
  it('that do not exist are told, and nothing is made', async () => {
    expect((await rejection(ensure(serviceWith({ 'firewall-id': '77' }), nodesA()))).message).toContain(
      '[firewall_id] Firewall not found',
    );
    expect(leftoversOf(world.server)).toEqual([]);
  });
});

describe('a NodeBalancer is found again', () => {
  it('by the UID of its Service, when the status is lost', async () => {
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(serviceWith(), nodes);
    expect(await get(serviceWith())).toEqual(before);
    await reopen();
    expect(await ensure(serviceWith(), nodes)).toEqual(before);
    one();
  });
  it('by its tag, when somebody gave it another label', async () => {
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(serviceWith(), nodes);
    world.server.account.put('balancer', { ...one(), label: 'renamed' });
    expect(await ensure(serviceWith(), nodes)).toEqual(before);
    await remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('by address or name in the status, as linode-cloud-controller-manager left it', async () => {
    const nodes = addNodes(world, ['node-a']);
    const { ingress = [] } = await ensure(serviceWith(), nodes);
    const old = () => world.server.account.put('balancer', { ...one(), label: 'ccm-0123456789ab', tags: ['kubernetes'] });
    for (const status of [{ ip: ingress[0]?.ip as string }, { hostname: ingress[0]?.hostname as string }]) {
      old();
      const service = serviceWith({}, {}, { status: { loadBalancer: { ingress: [status] } } });
      expect(await ensure(service, nodes)).toEqual({ ingress });
      expect(one().tags).toContain(serviceTag(service));
    }
  });
  it('but not one of another Service, whose address the status still has', async () => {
    const nodes = addNodes(world, ['node-a']);
    const other = serviceWith({}, {}, { metadata: { name: 'other', namespace: 'shop', uid: 'another-uid-0001' } });
    const { ingress = [] } = await ensure(other, nodes);
    const stale = serviceWith({}, {}, { status: { loadBalancer: { ingress } } });
    await remove(stale);
    expect(await get(other)).toEqual({ ingress });
    expect((await ensure(stale, nodes)).ingress).not.toEqual(ingress);
  });
  it('by the ID that an annotation names; what served before goes', async () => {
    const nodes = addNodes(world, ['node-a']);
    await ensure(serviceWith(), nodes);
    const first = one();
    const { account } = world.server;
    const mine = account.put('balancer', {
      ...first,
      id: account.id(),
      label: 'mine',
      tags: [],
      ipv4: '172.234.9.9',
      hostname: 'mine.example',
    });
    const service = serviceWith({ 'nodebalancer-id': String(mine.id) });
    expect(await ensure(service, nodes)).toEqual({ ingress: [{ hostname: 'mine.example', ip: '172.234.9.9' }] });
    expect(one().label).toBe('mine');
    const taken = serviceWith(
      { 'nodebalancer-id': String(mine.id) },
      {},
      { metadata: { ...service.metadata, uid: 'another-uid-0002' } },
    );
    expect((await rejection(ensure(taken, nodes))).message).toContain(
      `NodeBalancer (${mine.id}) is the load balancer of another service`,
    );
    expect((await rejection(ensure(serviceWith({ 'nodebalancer-id': '9' }), nodes))).message).toContain(
      'LoadBalancer (9) not found for service (shop/web)',
    );
  });
  it('preserved when its Service goes, and taken over by another one', async () => {
    const nodes = addNodes(world, ['node-a']);
    await ensure(serviceWith({ preserve: 'true' }), nodes);
    await remove(serviceWith({ preserve: 'true' }));
    const { id, tags } = one();
    expect(tags).toEqual(['kubernetes']);
    const next = serviceWith(
      { 'nodebalancer-id': String(id) },
      {},
      { metadata: { name: 'next', namespace: 'shop', uid: 'another-uid-0003' } },
    );
    const annotated = {
      ...next,
      metadata: { ...next.metadata, annotations: serviceWith({ 'nodebalancer-id': String(id) }).metadata.annotations ?? {} },
    };
    await ensure(annotated, nodes);
    expect(one().id).toBe(id);
  });
});

describe('in a VPC', () => {
  const inVpc = (more = {}) => ({ flags: { vpcNames: ['k8s'], ...more } });
  function setUp(): { subnet: number; other: number; nodes: Node[] } {
    const { account } = world.server;
    const vpc = account.addVpc('k8s', region);
    const subnet = account.addSubnet(vpc.id, 'default', '10.0.0.0/16').id;
    const other = account.addSubnet(vpc.id, 'balancers', '10.1.0.0/16').id;
    return { subnet, other, nodes: addNodes(world, ['node-a'], { subnet }) };
  }
  it('it reaches the nodes there', async () => {
    const { subnet, nodes } = setUp();
    await reopen(inVpc());
    await ensure(serviceWith({ 'backend-ipv4-range': '10.0.9.0/30' }), nodes);
    expect(one().vpcs).toEqual([{ subnet_id: subnet, ipv4_range: '10.0.9.0/30', purpose: 'backend' }]);
    expect(world.server.account.of('node')).toMatchObject([{ address: expect.stringMatching(/^10\.0\.\d+\.\d+:30080$/) }]);
    expect((await writes(() => ensure(serviceWith(), nodes))).done).toEqual([]);
  });
  it.each([
    [{}, {}, 'default'],
    [{ 'backend-subnet-name': 'balancers' }, {}, 'balancers'],
    [{ 'backend-vpc-name': 'k8s' }, {}, 'default'],
    [{}, { backendSubnetName: 'balancers' }, 'balancers'],
    [{ 'backend-vpc-name': 'k8s', 'backend-subnet-name': 'default' }, { backendSubnetName: 'balancers' }, 'default'],
  ])('with %j and %j it is in the subnet that this names: %j', async (annotations, flags, name) => {
    setUp();
    await reopen(inVpc(flags));
    await ensure(serviceWith(annotations), []);
    const id = world.server.account.of('subnet').find((subnet) => subnet.label === name)?.id;
    expect(one().vpcs).toMatchObject([{ subnet_id: id }]);
  });
  it('its range must be where the flag allows, and names must lead somewhere', async () => {
    setUp();
    await reopen(inVpc({ backendSubnet: '10.100.0.0/16' }));
    const refused = async (annotations: Record<string, string>) =>
      (await rejection(ensure(serviceWith(annotations), []))).message;
    expect(await refused({ 'backend-ipv4-range': '10.0.9.0/30' })).toContain(
      'IPv4 range 10.0.9.0/30 is not within the subnet 10.100.0.0/16',
    );
    expect(await refused({ 'backend-vpc-name': 'none' })).toContain('failed to find VPC: "none"');
    expect(await refused({ 'backend-subnet-name': 'none' })).toContain('failed to find subnet: "none"');
    await ensure(serviceWith(), []);
    expect(one().vpcs).toMatchObject([{ ipv4_range: '10.100.0.0/16' }]);
  });
  it('clients can be there as well', async () => {
    const { other } = setUp();
    await ensure(serviceWith({ 'frontend-vpc-name': 'k8s', 'frontend-subnet-name': 'balancers' }), []);
    expect(one()).toMatchObject({ frontend_address_type: 'vpc', frontend_vpc_subnet_id: other });
    await remove(serviceWith());
    await ensure(serviceWith({ 'frontend-subnet-id': String(other), 'frontend-ipv4-range': '10.1.0.0/24' }), []);
    expect(one().vpcs).toEqual([{ subnet_id: other, ipv4_range: '10.1.0.0/24', purpose: 'frontend' }]);
  });
  it('nodes are reached outside of it when that is asked for', async () => {
    const { nodes } = setUp();
    const [node] = nodes;
    const noted = {
      ...node,
      metadata: {
        ...node?.metadata,
        annotations: { 'node.k8s.linode.com/private-ip': node?.status?.addresses?.[1]?.address ?? '' },
      },
    } as Node;
    await reopen(inVpc({ noVpcBackends: true }));
    await ensure(serviceWith(), [noted]);
    expect([one().vpcs, world.server.account.of('node')[0]?.address]).toEqual([[], expect.stringMatching(/^192\.168\./)]);
  });
  it('or by public IPv6', async () => {
    const { nodes } = setUp();
    const ipv6 = world.server.account.linodeNamed('node-a')?.ipv6 as string;
    const [node] = nodes;
    const noted = { ...node, metadata: { ...node?.metadata, annotations: { 'node.k8s.linode.com/public-ipv6': ipv6 } } } as Node;
    await reopen(inVpc());
    await ensure(serviceWith({ 'enable-ipv6-backends': 'true' }), [noted]);
    expect(world.server.account.of('node')[0]?.address).toBe(`[${ipv6.replace('/128', '')}]:30080`);
    const error = await rejection(ensure(serviceWith({ 'enable-ipv6-backends': 'true' }), nodes));
    expect(error.message).toContain('no public IPv6 address found for node node-a');
  });
});

describe('when calls fail', () => {
  const service = serviceWith(acl('198.51.100.0/24'));
  it('a lost answer makes no second one', async () => {
    const { faults } = world.server;
    for (const path of ['/v4/nodebalancers', '/v4/networking/firewalls'])
      faults.add({ method: 'POST', path, status: 500, afterwards: true, message: 'lost' });
    faults.rates = { ...noRates, lagMs: 3_000 };
    const status = await ensure(service, addNodes(world, ['node-a']));
    world.clock.skip(3_000);
    expect([one().ipv4, world.server.account.of('firewall').length]).toEqual([status.ingress?.[0]?.ip, 1]);
  });
  it('what may have been made is looked for until it must show', async () => {
    const { faults } = world.server;
    faults.rates = { ...noRates, lagMs: 20_000 };
    faults.add({ method: 'POST', path: '/v4/nodebalancers', status: 500, afterwards: true, times: 9, message: 'lost' });
    const nodes = addNodes(world, ['node-a']);
    world.clock.skip(20_000);
    await rejection(ensure(serviceWith(), nodes));
    expect(await get(serviceWith())).toEqual({});
    expect(retryAfterOf(await rejection(remove(serviceWith())))).toBeGreaterThan(0);
    world.clock.skip(20_000);
    await remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
    world.clock.skip(60_000);
    expect(await get(serviceWith())).toBeUndefined();
  });
  it('what is left of one half made exists, and goes with the Service', async () => {
    world.server.faults.add({ method: 'POST', path: '/v4/nodebalancers', status: 403, message: 'Unauthorized' });
    expect((await rejection(ensure(service, addNodes(world, ['node-a'])))).message).toContain(
      'CreateNodeBalancer: [403] Unauthorized',
    );
    expect(leftoversOf(world.server)).toHaveLength(1);
    expect(await get(service)).toEqual({});
    await remove(service);
    expect([leftoversOf(world.server), await get(service)]).toEqual([[], undefined]);
  });
  it.each([/nodebalancers\/\d+$/, /firewalls\/\d+$/])('deleting goes on where %s failed', async (path) => {
    await ensure(service, addNodes(world, ['node-a']));
    world.server.faults.add({ method: 'DELETE', path, status: 403, message: 'no' });
    await rejection(remove(service));
    expect(await get(service)).toBeDefined();
    await remove(service);
    expect([leftoversOf(world.server), await get(service)]).toEqual([[], undefined]);
  });
  it('a Linode that goes between two calls is no backend', async () => {
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const { faults, account } = world.server;
    faults.add({ method: 'POST', path: '/v4/nodebalancers', then: () => account.removeLinode('node-b') });
    await ensure(service, nodes);
    expect(backendsOf(world.server, service)).toEqual(['node-a']);
    const later = addNodes(world, ['node-c']);
    faults.add({ method: 'POST', path: /rebuild$/, then: () => account.removeLinode('node-c') });
    await update(service, [...nodes, ...later]);
    expect(backendsOf(world.server, service)).toEqual(['node-a']);
  });
  it('what was deleted does not count, although the API shows it for a while', async () => {
    world.server.faults.rates = { ...noRates, lagMs: 10_000 };
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(service, nodes);
    world.clock.skip(10_000);
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
    const after = await ensure(service, nodes);
    expect(after).not.toEqual(before);
    expect(one().ipv4).toBe(after.ingress?.[0]?.ip);
  });
  it('throttling becomes a delay of the controller', async () => {
    world.server.faults.add({ status: 429, headers: { 'retry-after': '42' }, path: '/v4/nodebalancers' });
    expect(retryAfterOf(await rejection(ensure(service, [])))).toBe(42_000);
  });
});
