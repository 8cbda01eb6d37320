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
  writes,
} from '../../test-server/balancer-tests.ts';
import { backendsOf, balancersIn, leftoversOf } from '../../test-server/conformance-world.ts';
import { location } from '../../test-server/index.ts';
import type { Resource } from '../emulator/resource.ts';
import { addNodes, cluster } from '../../test-server/world.ts';
import { servicePrefix } from '../names.ts';
import { annotation } from './annotations.ts';

describe('a load balancer', () => {
  it('is made over the machines of this cloud, whatever else calls itself a node', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const foreign = ['evil:///../../x', 'azure://', 'azure:///subscriptions/a'].map((providerID, at) => ({
      metadata: { name: `foreign-${at}` },
      spec: { providerID },
    }));
    const status = await world.balancers.ensureLoadBalancer(cluster, web(), [...foreign, ...nodes]);
    expect(addressOf(status)).toBeDefined();
    await world.balancers.updateLoadBalancer(cluster, web(), [...nodes, ...foreign]);
    expect(backendsOf(world.server, web())).toHaveLength(1);
  });
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
