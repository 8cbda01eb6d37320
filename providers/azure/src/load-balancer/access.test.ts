import { describe, expect, it } from 'vitest';
import {
  addressOf,
  balancer,
  named,
  opened,
  other,
  own,
  part,
  publicIps,
  security,
  tcp,
  web,
} from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { group, location } from '../../test-server/index.ts';
import { addNodes, cluster } from '../../test-server/world.ts';
import { servicePrefix } from '../names.ts';
import { annotation } from './annotations.ts';

describe('its address', () => {
  it('is a public IP that its owner has reserved, by name or address, and stays with them', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const ip = world.server.subscription.addPublicIp(group, 'mine', location);
    const byName = web({ [annotation.pipName]: 'mine' });
    expect(addressOf(await world.balancers.ensureLoadBalancer(cluster, byName, nodes))).toBe(ip.properties['ipAddress']);
    const byAddress = web({ [annotation.ipv4]: String(ip.properties['ipAddress']) });
    expect(addressOf(await world.balancers.ensureLoadBalancer(cluster, byAddress, nodes))).toBe(ip.properties['ipAddress']);
    expect(publicIps(world).map(({ name }) => name)).toEqual(['mine']);
    await world.balancers.ensureLoadBalancerDeleted(cluster, byAddress);
    expect(publicIps(world).map(({ name, tags }) => [name, tags])).toEqual([['mine', undefined]]);
    await expect(world.balancers.ensureLoadBalancer(cluster, web({}, { loadBalancerIP: '203.0.113.9' }), nodes)).rejects.toThrow(
      'user supplied IP Address 203.0.113.9 was not found in resource group shop',
    );
  });
  it('is shared by Services that name it, and each takes only its own rules away', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const address = addressOf(await world.balancers.ensureLoadBalancer(cluster, web(), nodes));
    const second = other({ [annotation.ipv4]: String(address) }, { ports: [tcp(443)] });
    expect(addressOf(await world.balancers.ensureLoadBalancer(cluster, second, nodes))).toBe(address);
    expect(publicIps(world).map(({ tags }) => tags?.['k8s-azure-service'])).toEqual(['shop/web,shop/api']);
    expect(named(world, 'frontendIPConfigurations')).toEqual([own]);
    await expect(
      world.balancers.ensureLoadBalancer(cluster, other({ [annotation.ipv4]: String(address) }), nodes),
    ).rejects.toThrow(`port 80 of frontend ${own} is taken by rule ${own}-TCP-80`);
    await world.balancers.ensureLoadBalancerDeleted(cluster, web());
    expect(named(world, 'loadBalancingRules')).toEqual([`${servicePrefix(other())}-TCP-443`]);
    expect(security(world)).toMatchObject([{ destinationPortRanges: ['443'], destinationAddressPrefix: address }]);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('has a DNS label, which no other Service may change', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const ip = addressOf(await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.dnsLabel]: 'shop' }), nodes));
    expect(publicIps(world)[0]?.properties['dnsSettings']).toMatchObject({ fqdn: 'shop.westeurope.cloudapp.azure.com' });
    const rival = other({ [annotation.ipv4]: String(ip), [annotation.dnsLabel]: 'api' }, { ports: [tcp(443)] });
    await expect(world.balancers.ensureLoadBalancer(cluster, rival, nodes)).rejects.toThrow(
      'Service shop/web has set the DNS label',
    );
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.dnsLabel]: '' }), nodes);
    expect(publicIps(world)[0]?.properties['dnsSettings']).toBeUndefined();
  });
  it('comes from a prefix, with tags and IP tags', async () => {
    const world = await opened({ config: { tags: 'owner=shop', tagsMap: { 'a=b': 'c,d' } } });
    const prefixId = `/subscriptions/s/resourceGroups/${group}/providers/Microsoft.Network/publicIPPrefixes/range`;
    const notes = {
      [annotation.pipPrefix]: prefixId,
      [annotation.pipTags]: 'team=web',
      [annotation.pipIpTags]: 'RoutingPreference=Internet',
    };
    await world.balancers.ensureLoadBalancer(cluster, web(notes), addNodes(world, ['node-a']));
    expect(publicIps(world)[0]).toMatchObject({
      name: `kubernetes-${own}-range`,
      tags: { owner: 'shop', 'a=b': 'c,d', team: 'web' },
      properties: { publicIPPrefix: { id: prefixId }, ipTags: [{ ipTagType: 'RoutingPreference', tag: 'Internet' }] },
    });
    expect(balancer(world)?.tags).toEqual({ owner: 'shop', 'a=b': 'c,d' });
    await world.balancers.ensureLoadBalancerDeleted(cluster, web(notes));
    expect(publicIps(world)).toEqual([]);
  });
});

describe('who is let in', () => {
  it('are source ranges, of each family at its own address', async () => {
    const world = await opened();
    const spec = {
      loadBalancerSourceRanges: ['198.51.100.0/24', '198.51.100.7/32', '2001:db8::/32'],
      ipFamilies: ['IPv4', 'IPv6'],
    };
    const status = await world.balancers.ensureLoadBalancer(cluster, web({}, spec), addNodes(world, ['node-a'], { ipv6: true }));
    expect(security(world)).toMatchObject([
      { sourceAddressPrefix: '198.51.100.0/24', destinationAddressPrefix: status.ingress?.[0]?.ip },
      { sourceAddressPrefix: '2001:db8::/32', destinationAddressPrefix: status.ingress?.[1]?.ip },
    ]);
  });
  it('are service tags and ranges of annotations, and nobody else on request', async () => {
    const world = await opened();
    const notes = {
      [annotation.serviceTags]: 'AzureCloud,Storage',
      [annotation.ipRanges]: '203.0.113.0/24',
      [annotation.denyOthers]: 'true',
    };
    const nodes = addNodes(world, ['node-a']);
    await world.balancers.ensureLoadBalancer(cluster, web(notes), nodes);
    expect(security(world).map((rule) => [rule['access'], rule['sourceAddressPrefix'], rule['priority']])).toEqual([
      ['Allow', 'AzureCloud', 500],
      ['Allow', 'Storage', 501],
      ['Allow', '203.0.113.0/24', 502],
      ['Deny', '*', 4_095],
    ]);
    await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    expect(security(world)).toMatchObject([{ access: 'Allow', sourceAddressPrefix: 'Internet' }]);
  });
  it('are no more than fit, and those within others are left out at once', async () => {
    const world = await opened();
    const ranges = (count: number): string => Array.from({ length: count }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`).join();
    const nodes = addNodes(world, ['node-a']);
    const all = web({ [annotation.ipRanges]: `${ranges(3_999)},10.0.0.0/8` });
    await world.balancers.ensureLoadBalancer(cluster, all, nodes);
    expect(security(world)).toMatchObject([{ sourceAddressPrefix: '10.0.0.0/8' }]);
    const tooMany = web({ [annotation.ipRanges]: ranges(4_001) });
    await expect(world.balancers.ensureLoadBalancer(cluster, tooMany, nodes)).rejects.toThrow('4001 ranges are more than 4000');
  });
  it('by one rule of several Services are let in to all of them, and to those that stay', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    // As it is without the annotation.
    const shared = { 'shared-securityrule': 'true' };
    const first = addressOf(await world.balancers.ensureLoadBalancer(cluster, web(shared), nodes));
    const second = addressOf(await world.balancers.ensureLoadBalancer(cluster, other(), nodes));
    expect(security(world)).toMatchObject([{ destinationAddressPrefixes: [first, second].sort() }]);
    await world.balancers.ensureLoadBalancerDeleted(cluster, web(shared));
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: second, destinationPortRanges: ['80'] }]);
  });
  it('are left to others on request, and further addresses are let in as well', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const status = await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.additionalIps]: '203.0.113.80' }), nodes);
    expect(status.ingress).toHaveLength(2);
    expect(security(world)).toMatchObject([{ destinationAddressPrefixes: [addressOf(status), '203.0.113.80'].sort() }]);
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.disableSecurityRules]: 'true' }), nodes);
    expect(security(world).filter((rule) => JSON.stringify(rule).includes(String(addressOf(status))))).toEqual([]);
  });
  it('of another Service stay in, whoever names its address', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const victim = addressOf(await world.balancers.ensureLoadBalancer(cluster, web(), nodes)) ?? '';
    const rival = other({ [annotation.additionalIps]: victim });
    await expect(world.balancers.ensureLoadBalancer(cluster, rival, nodes)).rejects.toThrow(
      `additional-public-ips: ${victim} is the address of another service`,
    );
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: victim, destinationPortRanges: ['80'] }]);
    await world.balancers.ensureLoadBalancer(
      cluster,
      { ...other(), status: { loadBalancer: { ingress: [{ ip: victim }] } } },
      nodes,
    );
    await world.balancers.ensureLoadBalancerDeleted(cluster, rival);
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: victim, destinationPortRanges: ['80'] }]);
  });
  it('of another Service stay in, also where its address is in another resource group', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const ip = world.server.subscription.addPublicIp('shared', 'theirs', location);
    const first = web({ [annotation.resourceGroup]: 'shared', [annotation.pipName]: 'theirs' }, { ports: [tcp(30_080)] });
    const victim = addressOf(await world.balancers.ensureLoadBalancer(cluster, first, nodes)) ?? '';
    expect(victim).toBe(ip.properties['ipAddress']);
    const rival = other({ [annotation.additionalIps]: victim });
    await expect(world.balancers.ensureLoadBalancer(cluster, rival, nodes)).rejects.toThrow('is the address of another service');
    // Its node port is the other's port.
    const direct = other({ [annotation.disableFloatingIp]: 'true' });
    await world.balancers.ensureLoadBalancer(cluster, direct, nodes);
    await world.balancers.ensureLoadBalancerDeleted(cluster, direct);
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: victim, destinationPortRanges: ['30080'] }]);
  });
  it('are for nodes and node ports of an internal load balancer of IPv6, which has no floating address', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']).map((node) => ({
      ...node,
      status: { addresses: [...(node.status?.addresses ?? []), { type: 'InternalIP', address: 'fd00::4' }] },
    }));
    const inside = { [annotation.internal]: 'true', [annotation.ipRanges]: 'fd00:1::/64,10.9.0.0/16' };
    const service = web(inside, { ipFamilies: ['IPv4', 'IPv6'] });
    const status = await world.balancers.ensureLoadBalancer(cluster, service, nodes);
    const opens = security(world).map(({ sourceAddressPrefix, destinationAddressPrefix, destinationPortRanges }) => [
      sourceAddressPrefix,
      destinationAddressPrefix,
      destinationPortRanges,
    ]);
    expect(opens).toEqual([
      ['10.9.0.0/16', addressOf(status), ['80']],
      ['fd00:1::/64', 'fd00::4', ['30080']],
    ]);
    await expect(
      world.balancers.ensureLoadBalancer(
        cluster,
        web({ ...inside, [annotation.denyOthers]: 'true' }, { ipFamilies: ['IPv6'] }),
        nodes,
      ),
    ).rejects.toThrow('an internal load balancer of IPv6 has no floating address');
    await world.balancers.ensureLoadBalancerDeleted(cluster, service);
    expect(security(world)).toEqual([]);
  });
  it('reach nodes themselves at their node ports where addresses do not float', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const service = web({ [annotation.disableFloatingIp]: 'true' });
    await world.balancers.ensureLoadBalancer(cluster, service, nodes);
    expect(part(world, 'loadBalancingRules', `${own}-TCP-80`)).toMatchObject({ enableFloatingIP: false, backendPort: 30_080 });
    expect(security(world)).toMatchObject([
      {
        destinationAddressPrefixes: nodes.map(({ status }) => status?.addresses?.[0]?.address).sort(),
        destinationPortRanges: ['30080'],
      },
    ]);
    await world.balancers.updateLoadBalancer(cluster, service, nodes.slice(0, 1));
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: nodes[0]?.status?.addresses?.[0]?.address }]);
    await world.balancers.ensureLoadBalancerDeleted(cluster, service);
    expect(security(world)).toEqual([]);
  });
  it.each([
    ['float again', {}, {}],
    ['are reached at another node port', { [annotation.disableFloatingIp]: 'true' }, { ports: [tcp(80, 31_234)] }],
    ['are inside', { [annotation.internal]: 'true' }, {}],
  ])('close the node ports of before when addresses %s', async (_what, notes, spec) => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.disableFloatingIp]: 'true' }), nodes);
    expect(security(world)).toMatchObject([{ destinationPortRanges: ['30080'] }]);
    const changed = web(notes, spec);
    await world.balancers.ensureLoadBalancer(cluster, changed, nodes);
    expect(security(world).flatMap(({ destinationPortRanges }) => destinationPortRanges)).not.toContain('30080');
    await world.balancers.ensureLoadBalancerDeleted(cluster, changed);
    expect(security(world)).toEqual([]);
  });
});
