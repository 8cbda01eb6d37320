// Cloud Firewalls of NodeBalancers: who is let in, and whose firewall it is.
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { acl, useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, label, serviceWith } from '../../test-server/world.ts';

const { ensure, firewallOf, one, remove, world, writes } = useBalancers();

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
  it('of another Service are attached where an annotation says so, and never changed or deleted', async () => {
    const nodes = nodesA();
    const first = serviceWith(acl('198.51.100.0/24'));
    await ensure(first, nodes);
    const [firewall] = world.server.account.of('firewall');
    const before = structuredClone(firewall?.rules);
    const other = (more: Record<string, string>, spec = {}): typeof first => {
      const service = serviceWith(more, spec);
      return { ...service, metadata: { ...service.metadata, name: 'other', uid: '99999999-8888-4777-8666-555555555555' } };
    };
    await ensure(other({ 'firewall-id': String(firewall?.id) }), nodes);
    await ensure(other({}, { loadBalancerSourceRanges: ['203.0.113.0/24'] }), nodes);
    const rules = world.server.account.of('firewall').map(({ rules: { inbound } }) => inbound[0]?.addresses.ipv4);
    expect(rules).toEqual([['198.51.100.0/24'], ['203.0.113.0/24']]);
    await remove(other({}));
    expect(world.server.account.of('firewall').map((one) => one.rules)).toEqual([before]);
  });
  it.each([
    '[]',
    '"198.51.100.0/24"',
    'true',
    'null',
    '{}',
    '{"denyList":["198.51.100.0/24"]}',
    '{"denyList":"198.51.100.0/24"}',
    '{"denyList":true}',
    '{"denyList":{}}',
    '{"denyList":null}',
    '{"denyList":{"ipv4":[]}}',
    '{"denyList":{"ipv4":"198.51.100.0/24"}}',
    '{"denyList":{"ipv4":[1]}}',
    '{"denyList":{"ip4":["198.51.100.0/24"]}}',
    '{"denylists":{"ipv4":["198.51.100.0/24"]}}',
    '{"allowList":{"ipv4":[]}}',
  ])('are not made of %s, which opens nothing', async (text) => {
    const error = await rejection(ensure(serviceWith({ 'firewall-acl': text }), nodesA()));
    expect(error.message).toContain('firewall-acl');
    expect([world.server.account.of('firewall'), world.server.account.of('balancer')]).toEqual([[], []]);
  });
  it('read the names of fields as Go does, whatever their case', async () => {
    await ensure(serviceWith({ 'firewall-acl': '{"DenyList":{"IPv4":["198.51.100.0/24"]}}' }), nodesA());
    expect(world.server.account.of('firewall')[0]?.rules.inbound).toMatchObject([
      { action: 'DROP', addresses: { ipv4: ['198.51.100.0/24'] } },
    ]);
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
