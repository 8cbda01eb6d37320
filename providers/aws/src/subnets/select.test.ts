import { describe, expect, it } from 'vitest';
import type { RouteTable, Subnet } from '@aws-sdk/client-ec2';
import { clusterRouteTable, destination, podRoutes } from '../routes/route-table.ts';
import { isPublic, subnetsByZone, usableSubnets } from './select.ts';

const cluster = { id: 'prod', legacy: false };
const mine = 'kubernetes.io/cluster/prod';
const subnet = (SubnetId: string, zone: string, ...keys: string[]): Subnet => ({
  SubnetId,
  AvailabilityZone: zone,
  Tags: keys.map((Key) => ({ Key, Value: '1' })),
});
const table = (gateway: string, ...subnets: (string | true)[]): RouteTable => ({
  Associations: subnets.map((each) => (each === true ? { Main: true } : { SubnetId: each })),
  Routes: [{ GatewayId: 'local' }, { GatewayId: gateway }],
});

describe('subnets', () => {
  it('of other clusters are theirs', () => {
    const subnets = [subnet('s-1', 'a', mine), subnet('s-2', 'a'), subnet('s-3', 'a', 'kubernetes.io/cluster/test')];
    expect(usableSubnets(subnets, cluster).map(({ SubnetId }) => SubnetId)).toEqual(['s-1', 's-2']);
  });
  it('are public by their own route table, or the main one', () => {
    const tables = [table('igw-1', 's-1'), table('nat-1', true, 's-2')];
    expect([isPublic(tables, 's-1'), isPublic(tables, 's-2'), isPublic(tables, 's-3')]).toEqual([true, false, false]);
    expect(() => isPublic([], 's-1')).toThrow('could not locate routing table for subnet s-1');
  });
  const all = [
    subnet('s-9', 'b'),
    subnet('s-1', 'b'),
    subnet('s-5', 'a', mine),
    subnet('s-4', 'a', mine),
    subnet('s-6', 'a', 'kubernetes.io/role/elb'),
    subnet('s-7', 'a', 'kubernetes.io/role/internal-elb', mine),
    subnet('s-8', 'c'),
    subnet('', 'd'),
  ];
  const tables = [table('igw-1', true), table('nat-1', 's-8')];
  it.each<[string, boolean, [string, string][]]>([
    [
      'for outside: the role, then the cluster, then the id',
      false,
      [
        ['a', 's-6'],
        ['b', 's-1'],
      ],
    ],
    [
      'for inside: private ones too, by the other role',
      true,
      [
        ['a', 's-7'],
        ['b', 's-1'],
        ['c', 's-8'],
      ],
    ],
  ])('one in each zone %s', (_what, internal, expected) => {
    expect([...subnetsByZone({ subnets: all, tables, cluster, internal })]).toEqual(expected);
  });
});

describe('route tables', () => {
  const tagged = { RouteTableId: 'rtb-1', Tags: [{ Key: mine, Value: 'owned' }] };
  it('is one', () => {
    expect(clusterRouteTable([{ RouteTableId: 'rtb-0' }, tagged], false, cluster, 'k').RouteTableId).toBe('rtb-1');
    expect(clusterRouteTable([{ RouteTableId: 'rtb-0' }], true, cluster, 'k').RouteTableId).toBe('rtb-0');
    expect(() => clusterRouteTable([{}], false, cluster, 'k')).toThrow('unable to find route table for AWS cluster: k');
    expect(() => clusterRouteTable([tagged, tagged], false, cluster, 'k')).toThrow('found multiple matching AWS route tables');
  });
  it('shows routes to known instances and to nothing', () => {
    const routes = [
      { DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' },
      { DestinationCidrBlock: '10.244.1.0/24', InstanceId: 'i-1', State: 'active' as const },
      { DestinationIpv6CidrBlock: 'fd00:1::/64', InstanceId: 'i-1', State: 'active' as const },
      { DestinationCidrBlock: '10.244.2.0/24', InstanceId: 'i-2', State: 'active' as const },
      { DestinationCidrBlock: '10.244.3.0/24', InstanceId: 'i-3', State: 'blackhole' as const },
      { DestinationPrefixListId: 'pl-1', GatewayId: 'vpce-1' },
    ];
    const shown = podRoutes({ Routes: routes }, 'k', (id) => (id === 'i-1' ? 'node-1' : undefined));
    expect(shown).toEqual([
      { name: 'k-10.244.1.0/24', destinationCidr: '10.244.1.0/24', targetNode: 'node-1', targetNodeAddresses: [] },
      { name: 'k-fd00:1::/64', destinationCidr: 'fd00:1::/64', targetNode: 'node-1', targetNodeAddresses: [] },
      { name: 'k-10.244.3.0/24', destinationCidr: '10.244.3.0/24', targetNode: '', targetNodeAddresses: [], blackhole: true },
    ]);
  });
  it('takes each family in its own field', () => {
    expect(destination('10.0.0.0/8')).toEqual({ DestinationCidrBlock: '10.0.0.0/8' });
    expect(destination('fd00::/64')).toEqual({ DestinationIpv6CidrBlock: 'fd00::/64' });
  });
});
