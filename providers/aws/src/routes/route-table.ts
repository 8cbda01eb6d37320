// What a route table says about routes to pods, as data. Pure.
import type { Route as TableRoute, RouteTable } from '@aws-sdk/client-ec2';
import type { Route } from 'sagong/cloud-provider';
import { type ClusterTags, inCluster } from '../tags.ts';

/** The one table of the cluster. Throws for none and for several. */
export function clusterRouteTable(
  tables: readonly RouteTable[],
  configured: boolean,
  tags: ClusterTags,
  cluster: string,
): RouteTable {
  const candidates = configured ? tables : tables.filter(({ Tags }) => inCluster(tags, Tags));
  if (candidates.length > 1) throw new Error(`found multiple matching AWS route tables for AWS cluster: ${cluster}`);
  if (!candidates[0]) throw new Error(`unable to find route table for AWS cluster: ${cluster}`);
  return candidates[0];
}

const isIPv6 = (cidr: string): boolean => cidr.includes(':');

/** The field of EC2's requests that a CIDR belongs into. */
export const destination = (cidr: string): { DestinationCidrBlock: string } | { DestinationIpv6CidrBlock: string } =>
  isIPv6(cidr) ? { DestinationIpv6CidrBlock: cidr } : { DestinationCidrBlock: cidr };

export const destinationOf = (route: TableRoute): string => route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock ?? '';

/**
 * Routes that lead to instances, to other things (left aside) and to nothing. A stopped instance makes a black hole too, but one that ends when it is
 * started: such a route is kept, or it would be removed and made again all the time.
 */
export function podRoutes(table: RouteTable, cluster: string, nodeOf: (instanceId: string) => string | undefined): Route[] {
  return (table.Routes ?? []).flatMap((route): Route[] => {
    const destinationCidr = destinationOf(route);
    if (destinationCidr === '') return [];
    const common = { name: `${cluster}-${destinationCidr}`, destinationCidr, targetNodeAddresses: [] };
    const targetNode = route.InstanceId ? nodeOf(route.InstanceId) : undefined;
    if (targetNode !== undefined) return [{ ...common, targetNode }];
    return route.State === 'blackhole' ? [{ ...common, targetNode: '', blackhole: true }] : [];
  });
}
