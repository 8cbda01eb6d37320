// Subnets of load balancers: named by the Service, or found in the network.
import {
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  type Filter,
  type RouteTable,
  type Subnet,
} from '@aws-sdk/client-ec2';
import { annotation, type Annotations, isInternal, listIn } from '../annotations.ts';
import { pages } from '../clients.ts';
import type { Cloud } from '../cloud.ts';
import { during } from '../errors.ts';
import { pagesMax } from '../limits.ts';
import { subnetsByZone, usableSubnets } from './select.ts';

const describe = ({ api }: Cloud, Filters: Filter[]): Promise<Subnet[]> =>
  pages(
    (NextToken) => api.ec2(new DescribeSubnetsCommand({ Filters, ...(NextToken !== undefined && { NextToken }) })),
    ({ Subnets }) => Subnets,
    ({ NextToken }) => NextToken,
    pagesMax,
  ).catch(during('error describing subnets'));

const routeTables = ({ api, identity }: Cloud): Promise<RouteTable[]> =>
  pages(
    (NextToken) =>
      api.ec2(
        new DescribeRouteTablesCommand({
          Filters: [{ Name: 'vpc-id', Values: [identity.vpcId] }],
          ...(NextToken !== undefined && { NextToken }),
        }),
      ),
    ({ RouteTables }) => RouteTables,
    ({ NextToken }) => NextToken,
    pagesMax,
  ).catch(during('error describe route table'));

/** In the order they were named. */
async function named(cloud: Cloud, wanted: readonly string[]): Promise<string[]> {
  if (wanted.length === 0) throw new Error('unable to resolve empty subnet slice');
  const ids = wanted.filter((each) => each.startsWith('subnet-'));
  const names = wanted.filter((each) => !each.startsWith('subnet-'));
  const found = [
    ...(ids.length > 0 ? await describe(cloud, [{ Name: 'subnet-id', Values: ids }]) : []),
    ...(names.length > 0
      ? await describe(cloud, [
          { Name: 'tag:Name', Values: names },
          { Name: 'vpc-id', Values: [cloud.identity.vpcId] },
        ])
      : []),
  ];
  if (found.length !== wanted.length) throw new Error(`expected to find ${wanted.length}, but found ${found.length} subnets`);
  const place = ({ SubnetId = '', Tags = [] }: Subnet): number => {
    const at = wanted.indexOf(SubnetId);
    return at >= 0 ? at : wanted.indexOf(Tags.find(({ Key }) => Key === 'Name')?.Value ?? '');
  };
  return found.toSorted((a, b) => place(a) - place(b)).flatMap(({ SubnetId }) => SubnetId ?? []);
}

/** Local, wavelength and outpost zones have no classic or network load balancers. */
async function inPlainZones(cloud: Cloud, byZone: ReadonlyMap<string, string>): Promise<string[]> {
  const ids: string[] = [];
  for (const [zone, subnet] of byZone) {
    const kind = (await cloud.zones.of(zone))?.ZoneType;
    if (kind === undefined || kind === 'availability-zone') ids.push(subnet);
  }
  return ids;
}

async function discovered(cloud: Cloud, internal: boolean): Promise<string[]> {
  const { vpcId, subnetId, cluster } = cloud.identity;
  let subnets = usableSubnets(await describe(cloud, [{ Name: 'vpc-id', Values: [vpcId] }]), cluster);
  if (subnets.length === 0 && subnetId !== undefined) {
    cloud.logger.warn('no subnet of the cluster is found, so that of the manager is taken', { vpc: vpcId, subnet: subnetId });
    subnets = await describe(cloud, [{ Name: 'subnet-id', Values: [subnetId] }]);
  }
  const tables = await routeTables(cloud);
  return inPlainZones(cloud, subnetsByZone({ subnets, tables, cluster, internal }));
}

/** Throws when there are none. */
export async function loadBalancerSubnets(cloud: Cloud, annotations: Annotations): Promise<string[]> {
  const wanted = annotations[annotation.subnets];
  const found = wanted === undefined ? await discovered(cloud, isInternal(annotations)) : await named(cloud, listIn(wanted));
  if (found.length === 0) throw new Error('could not find any suitable subnets for creating the ELB');
  return found;
}

/** The ranges of these subnets: where health checks of network load balancers come from. */
export async function subnetCidrs(cloud: Cloud, ids: readonly string[]): Promise<string[]> {
  const found = await describe(cloud, [{ Name: 'subnet-id', Values: [...ids] }]);
  if (found.length !== ids.length)
    throw new Error(`error querying Subnet for ELB, got ${found.length} subnets for ${ids.join(', ')}`);
  return found.flatMap(({ CidrBlock }) => CidrBlock ?? []);
}
