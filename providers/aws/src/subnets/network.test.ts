import { describe, expect, it } from 'vitest';
import type { DescribeSubnetsCommand, Filter } from '@aws-sdk/client-ec2';
import { manualClock } from 'sagong/cloud-provider/test-server';
import type { Api } from '../clients.ts';
import type { Cloud } from '../cloud.ts';
import { clusterNamed } from '../tags.ts';
import { loadBalancerSubnets, subnetCidrs } from './find.ts';
import { createNetwork, forgettingSubnets } from './network.ts';

const subnets = 'service.beta.kubernetes.io/aws-load-balancer-subnets';

/** A network of public subnets, which can be changed, and what was asked of it. */
function network() {
  const clock = manualClock();
  const there = [
    { SubnetId: 'subnet-1', AvailabilityZone: 'a', CidrBlock: '10.0.1.0/24' },
    { SubnetId: 'subnet-2', AvailabilityZone: 'b', CidrBlock: '10.0.2.0/24' },
  ];
  const asked: string[] = [];
  const ec2 = (command: DescribeSubnetsCommand) => {
    const what = command.constructor.name.replace(/^Describe|Command$/g, '');
    const { Name = '', Values = [] } = (command.input.Filters as Filter[])[0] ?? {};
    asked.push(`${what} ${Name} ${Values.join()}`);
    const found = Name === 'subnet-id' ? there.filter(({ SubnetId }) => Values.includes(SubnetId)) : there;
    const RouteTables = [{ Associations: [{ Main: true }], Routes: [{ GatewayId: 'igw-1' }] }];
    return Promise.resolve(what === 'Subnets' ? { Subnets: [...found] } : { RouteTables });
  };
  const known = createNetwork({ api: () => ({ ec2 }) as unknown as Api, vpcId: 'vpc-1', clock });
  const cloud = {
    identity: { vpcId: 'vpc-1', cluster: clusterNamed(undefined, 'prod') },
    zones: { of: () => Promise.resolve(undefined) },
    network: known,
  } as unknown as Cloud;
  return { clock, there, asked, known, cloud };
}

describe('subnets and route tables', () => {
  it('are asked for once by all Services of a while, whatever subnets these name', async () => {
    const { clock, asked, cloud } = network();
    const two = { [subnets]: 'subnet-2,subnet-1' };
    const found = await Promise.all([{}, {}, two, two].map((annotations) => loadBalancerSubnets(cloud, annotations)));
    expect(found.map(String)).toEqual(['subnet-1,subnet-2', 'subnet-1,subnet-2', 'subnet-2,subnet-1', 'subnet-2,subnet-1']);
    const first = ['Subnets vpc-id vpc-1', 'Subnets subnet-id subnet-2,subnet-1', 'RouteTables vpc-id vpc-1'];
    expect(asked).toEqual(first);
    await clock.advance(29_999);
    await loadBalancerSubnets(cloud, {});
    expect(asked).toEqual(first);
    await clock.advance(1);
    await loadBalancerSubnets(cloud, {});
    expect(asked.slice(first.length)).toEqual(['Subnets vpc-id vpc-1', 'RouteTables vpc-id vpc-1']);
  });
  it('that were missing are asked for by the next try', async () => {
    const { there, cloud } = network();
    const wanted = { [subnets]: 'subnet-1,subnet-3' };
    await expect(loadBalancerSubnets(cloud, wanted)).rejects.toThrow('expected to find 2, but found 1 subnets');
    await expect(subnetCidrs(cloud, ['subnet-3'])).rejects.toThrow('got 0 subnets for subnet-3');
    there.push({ SubnetId: 'subnet-3', AvailabilityZone: 'c', CidrBlock: '10.0.3.0/24' });
    expect(await loadBalancerSubnets(cloud, wanted)).toEqual(['subnet-1', 'subnet-3']);
    expect(await subnetCidrs(cloud, ['subnet-3'])).toEqual(['10.0.3.0/24']);
  });
  it('that AWS refuses for a load balancer are asked for by the next try; other failures change nothing', async () => {
    const { there, known, cloud } = network();
    await loadBalancerSubnets(cloud, {});
    there.pop();
    const other = Object.assign(new Error('busy'), { name: 'Throttling' });
    expect(() => forgettingSubnets(known)(other)).toThrow('busy');
    expect(await loadBalancerSubnets(cloud, {})).toEqual(['subnet-1', 'subnet-2']);
    const gone = Object.assign(new Error('no such subnet'), { name: 'SubnetNotFoundException' });
    expect(() => forgettingSubnets(known)(new Error('creating', { cause: gone }))).toThrow('creating');
    expect(await loadBalancerSubnets(cloud, {})).toEqual(['subnet-1']);
  });
});
