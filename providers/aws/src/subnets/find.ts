// Subnets of load balancers: named by the Service, or found in the network.
import type { Filter, Subnet } from '@aws-sdk/client-ec2';
import { annotation, type Annotations, isInternal, listIn } from '../annotations.ts';
import type { Cloud } from '../cloud.ts';
import { subnetsByZone, usableSubnets } from './select.ts';

const describe = ({ network, signal }: Cloud, filters: readonly Filter[]): Promise<readonly Subnet[]> =>
  network.subnets(filters, signal);

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
  let subnets: readonly Subnet[] = usableSubnets(await describe(cloud, [{ Name: 'vpc-id', Values: [vpcId] }]), cluster);
  if (subnets.length === 0 && subnetId !== undefined) {
    cloud.logger.warn('no subnet of the cluster is found, so that of the manager is taken', { vpc: vpcId, subnet: subnetId });
    subnets = await describe(cloud, [{ Name: 'subnet-id', Values: [subnetId] }]);
  }
  const tables = await cloud.network.routeTables(cloud.signal);
  return inPlainZones(cloud, subnetsByZone({ subnets, tables, cluster, internal }));
}

async function chosen(cloud: Cloud, annotations: Annotations): Promise<string[]> {
  const wanted = annotations[annotation.subnets];
  const found = wanted === undefined ? await discovered(cloud, isInternal(annotations)) : await named(cloud, listIn(wanted));
  if (found.length === 0) throw new Error('could not find any suitable subnets for creating the ELB');
  return found;
}

/** The subnets that a load balancer is put in. Throws where there is no fitting one. */
export const loadBalancerSubnets = (cloud: Cloud, annotations: Annotations): Promise<string[]> =>
  chosen(cloud, annotations).catch((error: unknown) => {
    // Perhaps they are there by now: the next try asks AWS.
    cloud.network.forget();
    throw error;
  });

/** The ranges of these subnets: where health checks of network load balancers come from. */
export async function subnetCidrs({ network, signal }: Cloud, ids: readonly string[]): Promise<string[]> {
  const found = await network.subnets([{ Name: 'subnet-id', Values: [...ids] }], signal);
  if (found.length !== ids.length) {
    network.forget();
    throw new Error(`error querying Subnet for ELB, got ${found.length} subnets for ${ids.join(', ')}`);
  }
  return found.flatMap(({ CidrBlock }) => CidrBlock ?? []);
}
