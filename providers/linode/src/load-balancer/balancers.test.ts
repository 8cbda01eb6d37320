// NodeBalancers over HTTP against the local server: what they are made of, and what changes in place.
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { acl, useBalancers } from '../../test-server/balancer-tests.ts';
import { firstCertificate, secondCertificate } from '../../test-server/certificates.ts';
import { backendsOf, leftoversOf, listenersOf } from '../../test-server/conformance-world.ts';
import { addNodes, label, type OpenOptions, region, serviceUid, serviceWith } from '../../test-server/world.ts';

const { ensure, one, remove, reopen, update, world, writes } = useBalancers();

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
  it.each([
    [{}, { ports: [{ name: 'http', protocol: 'TCP', port: 80 }] }, 'port 80 has no node port, which a load balancer needs'],
    [{}, { ipFamilies: ['IPv6'] }, 'reaches nodes by IPv4, and the Service has IPv6 addresses only'],
    [{ 'enable-ipv6-backends': 'true' }, { ipFamilies: ['IPv6'] }, 'no public IPv6 address found for node node-a'],
  ])('that has %j and %j is refused before anything is made', async (annotations, spec, words) => {
    const error = await rejection(ensure(serviceWith(annotations, spec), addNodes(world, ['node-a'])));
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
