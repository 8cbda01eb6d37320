// NodeBalancers and their nodes in VPCs.
import type { Node } from 'sagong/cloud-provider';
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { useBalancers } from '../../test-server/balancer-tests.ts';
import { addNodes, region, serviceWith } from '../../test-server/world.ts';

const { ensure, one, remove, reopen, world, writes } = useBalancers();

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
