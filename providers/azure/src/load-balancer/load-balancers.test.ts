import { type LoadBalancer, retryAfterOf, type Service } from 'sagong/cloud-provider';
import { noRates, testService } from 'sagong/cloud-provider/test-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backendsOf, balancersIn, leftoversOf } from '../../test-server/conformance-world.ts';
import { group, location } from '../../test-server/index.ts';
import { type Part, partsOf, type Resource } from '../../test-server/resource.ts';
import { addMembers, addNodes, cluster, type OpenOptions, openWorld, type TestWorld } from '../../test-server/world.ts';
import { servicePrefix } from '../names.ts';
import { annotation, portAnnotation, prefix } from './annotations.ts';

const own = servicePrefix(testService());
/** Annotations of the provider without their prefix. */
const web = (
  notes: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  metadata: Partial<Service['metadata']> = {},
) => testService(Object.fromEntries(Object.entries(notes).map(([name, value]) => [prefix + name, value])), spec, metadata);
const other = (notes: Record<string, string> = {}, spec: Partial<Service['spec']> = {}) =>
  web(notes, spec, { name: 'api', uid: '99999999-2222-4333-8444-555555555555' });
const tcp = (port: number, nodePort = 30_000 + port) => ({ name: `p${port}`, protocol: 'TCP', port, nodePort });

interface Opened extends TestWorld {
  balancers: LoadBalancer;
}
async function opened(options: OpenOptions = {}): Promise<Opened> {
  const world = await openWorld();
  onTestFinished(() => world.server.close());
  const { loadBalancer } = await world.open(options);
  return { ...world, balancers: loadBalancer as LoadBalancer };
}

const balancer = ({ server }: TestWorld, name = cluster): Resource | undefined =>
  balancersIn(server).find((one) => one.name === name);
const part = (world: TestWorld, list: string, name: string, on = cluster): Part['properties'] =>
  partsOf(balancer(world, on), list).find((one) => one.name === name)?.properties;
const named = (world: TestWorld, list: string, on = cluster): (string | undefined)[] =>
  partsOf(balancer(world, on), list).map(({ name }) => name);
const security = ({ server }: TestWorld): Record<string, unknown>[] =>
  partsOf(server.subscription.of('Microsoft.Network/networkSecurityGroups')[0], 'securityRules').map(({ name, properties }) => ({
    name,
    ...properties,
  }));
const publicIps = ({ server }: TestWorld): Resource[] => server.subscription.of('Microsoft.Network/publicIPAddresses');
const writes = ({ server }: TestWorld): string[] =>
  server.requests.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url.pathname}`);
const addressOf = (status: { ingress?: { ip?: string }[] }): string | undefined => status.ingress?.[0]?.ip;

describe('a load balancer', () => {
  it('is made of the pieces that upstream makes, by the same names', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a', 'node-b']);
    const status = await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    const [ip] = publicIps(world);
    expect(ip).toMatchObject({
      name: `kubernetes-${own}`,
      sku: { name: 'Standard' },
      tags: { 'k8s-azure-service': 'shop/web', 'k8s-azure-cluster-name': 'kubernetes' },
      properties: { publicIPAllocationMethod: 'Static', publicIPAddressVersion: 'IPv4' },
    });
    expect(status).toEqual({ ingress: [{ ip: ip?.properties['ipAddress'] }] });
    expect(balancer(world)).toMatchObject({ name: 'kubernetes', sku: { name: 'Standard' }, location });
    expect(part(world, 'frontendIPConfigurations', own)).toMatchObject({ publicIPAddress: { id: ip?.id } });
    expect(part(world, 'loadBalancingRules', `${own}-TCP-80`)).toMatchObject({
      protocol: 'Tcp',
      frontendPort: 80,
      backendPort: 80,
      enableFloatingIP: true,
      enableTcpReset: true,
      idleTimeoutInMinutes: 4,
      loadDistribution: 'Default',
      disableOutboundSnat: false,
    });
    expect(part(world, 'probes', `${own}-TCP-80`)).toMatchObject({
      protocol: 'Tcp',
      port: 30_080,
      intervalInSeconds: 5,
      probeThreshold: 2,
    });
    expect(named(world, 'backendAddressPools')).toEqual(['kubernetes']);
    expect(backendsOf(world.server, web())).toEqual(['node-a', 'node-b']);
    expect(security(world)).toMatchObject([
      {
        // The name that cloud-provider-azure has for TCP, Internet and port 80.
        name: 'k8s-azure-lb_allow_IPv4_d39272f7f57ed937951650d93992ad77',
        priority: 500,
        access: 'Allow',
        direction: 'Inbound',
        protocol: 'Tcp',
        sourceAddressPrefix: 'Internet',
        destinationAddressPrefix: addressOf(status),
        destinationPortRanges: ['80'],
      },
    ]);
  });
  it('inside has an address of the subnet that is named, and no rule from the Internet', async () => {
    const world = await opened();
    const service = web({ [annotation.internal]: 'true', [annotation.subnet]: 'inside' });
    const status = await world.balancers.ensureLoadBalancer(cluster, service, addNodes(world, ['node-a']));
    expect(addressOf(status)).toMatch(/^10\.100\./);
    expect(named(world, 'frontendIPConfigurations', 'kubernetes-internal')).toEqual([`${own}-inside`]);
    expect(named(world, 'loadBalancingRules', 'kubernetes-internal')).toEqual([`${own}-inside-TCP-80`]);
    expect([balancer(world), security(world), publicIps(world)]).toEqual([undefined, [], []]);
  });
  it('moves inside and out again, and leaves nothing on the other side', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const outside = await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.internal]: 'true' }), nodes);
    expect(leftoversOf(world.server).filter((one) => !one.includes(own))).toEqual([
      'load balancer kubernetes-internal',
      'backendAddressPools kubernetes',
    ]);
    expect([publicIps(world), security(world)]).toEqual([[], []]);
    const again = await world.balancers.ensureLoadBalancer(cluster, web(), nodes);
    expect(balancersIn(world.server).map(({ name }) => name)).toEqual(['kubernetes']);
    expect(addressOf(again)).not.toBe(addressOf(outside));
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: addressOf(again) }]);
  });
  it('serves TCP and UDP together', async () => {
    const world = await opened();
    const ports = [tcp(53), { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_153 }];
    await world.balancers.ensureLoadBalancer(cluster, web({}, { ports }), addNodes(world, ['node-a']));
    expect(named(world, 'loadBalancingRules')).toEqual([`${own}-TCP-53`, `${own}-UDP-53`]);
    expect(part(world, 'loadBalancingRules', `${own}-UDP-53`)).toMatchObject({ protocol: 'Udp', enableTcpReset: false });
    expect(named(world, 'probes')).toEqual([`${own}-TCP-53`]);
    expect(security(world).map(({ protocol }) => protocol)).toEqual(['Tcp', 'Udp']);
  });
  it('with traffic policy Local is asked on its health port', async () => {
    const world = await opened();
    const spec = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_000, ports: [tcp(80), tcp(443)] };
    await world.balancers.ensureLoadBalancer(cluster, web({}, spec), addNodes(world, ['node-a']));
    expect(named(world, 'probes')).toEqual([`${own}-TCP-31000`]);
    expect(part(world, 'probes', `${own}-TCP-31000`)).toMatchObject({ protocol: 'Http', port: 31_000, requestPath: '/healthz' });
    await world.balancers.ensureLoadBalancer(cluster, web({}, { ports: [tcp(80)] }), addNodes(world, ['node-b']));
    expect(named(world, 'probes')).toEqual([`${own}-TCP-80`]);
  });
  it('has a frontend for each address family', async () => {
    const world = await opened();
    const service = web({}, { ipFamilies: ['IPv4', 'IPv6'] });
    const status = await world.balancers.ensureLoadBalancer(cluster, service, addNodes(world, ['node-a'], { ipv6: true }));
    expect(named(world, 'frontendIPConfigurations')).toEqual([own, `${own}-IPv6`]);
    expect(named(world, 'backendAddressPools')).toEqual(['kubernetes', 'kubernetes-IPv6']);
    expect(publicIps(world).map(({ name }) => name)).toEqual([`kubernetes-${own}`, `kubernetes-${own}-IPv6`]);
    expect(status.ingress?.map(({ ip = '' }) => ip.includes(':'))).toEqual([false, true]);
    expect(security(world)).toHaveLength(2);
    await world.balancers.ensureLoadBalancerDeleted(cluster, service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('costs no write when nothing has changed', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const service = web({ [annotation.dnsLabel]: 'shop', [annotation.pipTags]: 'a=b' });
    await world.balancers.ensureLoadBalancer(cluster, service, nodes);
    const before = writes(world).length;
    await world.balancers.ensureLoadBalancer(cluster, service, nodes);
    await world.balancers.updateLoadBalancer(cluster, service, nodes);
    expect(writes(world).slice(before)).toEqual([]);
  });
  it.each([...Array.from({ length: 4 }, (_, index) => index)])(
    'is deleted in the end, wherever deleting fails, at write %i',
    async (after) => {
      const world = await opened();
      await world.balancers.ensureLoadBalancer(cluster, web(), addNodes(world, ['node-a']));
      world.server.faults.add({ method: /PUT|DELETE/, after, status: 400, code: 'Nope', message: 'not now' });
      await expect(world.balancers.ensureLoadBalancerDeleted(cluster, web())).rejects.toThrow('Nope: not now');
      expect(await world.balancers.getLoadBalancer(cluster, web())).toBeDefined();
      await world.balancers.ensureLoadBalancerDeleted(cluster, web());
      expect(leftoversOf(world.server)).toEqual([]);
      expect(await world.balancers.getLoadBalancer(cluster, web())).toBeUndefined();
    },
  );
  it('is deleted whatever its annotations say', async () => {
    const world = await opened();
    await world.balancers.ensureLoadBalancer(cluster, web(), addNodes(world, ['node-a']));
    const wrong = web({ [annotation.resourceGroup]: 'nowhere', [annotation.idleTimeout]: 'x', [annotation.pipName]: 'a/b' });
    await world.balancers.ensureLoadBalancerDeleted(cluster, wrong);
    expect(leftoversOf(world.server)).toEqual([]);
    expect(await world.balancers.getLoadBalancer(cluster, wrong)).toBeUndefined();
  });
  it('leaves what others have in the same load balancer and security group', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const { subscription } = world.server;
    const [nsg] = subscription.of('Microsoft.Network/networkSecurityGroups') as [Resource];
    const ssh = {
      name: 'ssh',
      properties: {
        priority: 500,
        access: 'Allow',
        direction: 'Inbound',
        protocol: 'Tcp',
        sourceAddressPrefix: '*',
        sourcePortRange: '*',
        destinationAddressPrefix: '*',
        destinationPortRange: '22',
      },
    };
    subscription.put({ ...nsg, properties: { ...nsg.properties, securityRules: [ssh] } });
    await Promise.all([web(), other()].map((service) => world.balancers.ensureLoadBalancer(cluster, service, nodes)));
    expect(security(world)).toMatchObject([{ name: 'ssh' }, { priority: 501, destinationAddressPrefixes: expect.any(Array) }]);
    await world.balancers.ensureLoadBalancerDeleted(cluster, web());
    expect(named(world, 'frontendIPConfigurations')).toEqual([servicePrefix(other())]);
    expect(security(world)).toMatchObject([{ name: 'ssh' }, { priority: 501, destinationAddressPrefix: expect.any(String) }]);
    await world.balancers.ensureLoadBalancerDeleted(cluster, other());
    expect(security(world)).toMatchObject([{ name: 'ssh' }]);
  });
});

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
  it('at a further address stay when another Service has left it', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const further = '203.0.113.80';
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.additionalIps]: further }), nodes);
    const second = other({ [annotation.additionalIps]: further }, { ports: [tcp(443)] });
    await world.balancers.ensureLoadBalancer(cluster, second, nodes);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    const at = security(world).filter((rule) => JSON.stringify(rule).includes(further));
    expect(at).toMatchObject([{ destinationPortRanges: ['80'] }]);
    // Its status still shows the address that its annotation does not name any more.
    const shown = { ...web(), status: { loadBalancer: { ingress: [{ ip: further }] } } };
    await world.balancers.ensureLoadBalancer(cluster, shown, nodes);
    expect(JSON.stringify(security(world))).not.toContain(further);
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
    await world.balancers.ensureLoadBalancer(cluster, rival, nodes);
    await world.balancers.ensureLoadBalancer(
      cluster,
      { ...other(), status: { loadBalancer: { ingress: [{ ip: victim }] } } },
      nodes,
    );
    await world.balancers.ensureLoadBalancerDeleted(cluster, rival);
    expect(security(world)).toMatchObject([{ destinationAddressPrefix: victim, destinationPortRanges: ['80'] }]);
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
});

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
