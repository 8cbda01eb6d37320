// Which subnets a load balancer lives in: one in each availability zone, reachable from outside unless it is internal. Pure.
import type { RouteTable, Subnet } from '@aws-sdk/client-ec2';
import { type ClusterTags, hasTag, inCluster, inNoCluster, internalSubnetTag, publicSubnetTag } from '../tags.ts';

/** The subnets that belong to this cluster or to no cluster. */
export const usableSubnets = (subnets: readonly Subnet[], cluster: ClusterTags): Subnet[] =>
  subnets.filter(({ Tags }) => inCluster(cluster, Tags) || inNoCluster(Tags));

/** Whether its route table, or the main one of the network, leads to an internet gateway. Throws when it has neither. */
export function isPublic(tables: readonly RouteTable[], subnetId: string): boolean {
  const table =
    tables.find(({ Associations = [] }) => Associations.some(({ SubnetId }) => SubnetId === subnetId)) ??
    tables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main === true));
  if (!table) throw new Error(`could not locate routing table for subnet ${subnetId}`);
  return (table.Routes ?? []).some(({ GatewayId }) => GatewayId?.startsWith('igw'));
}

/** The better one of two subnets of a zone: the one tagged for this role, then the cluster's, then the first by id. */
function better(cluster: ClusterTags, roleTag: string) {
  const rank = ({ Tags }: Subnet): number => (hasTag(Tags, roleTag) ? 2 : 0) + (inCluster(cluster, Tags) ? 1 : 0);
  return (a: Subnet, b: Subnet): Subnet => {
    if (rank(a) !== rank(b)) return rank(a) > rank(b) ? a : b;
    return (a.SubnetId ?? '') <= (b.SubnetId ?? '') ? a : b;
  };
}

export interface SelectSubnets {
  subnets: readonly Subnet[];
  tables: readonly RouteTable[];
  cluster: ClusterTags;
  internal: boolean;
}

/** One subnet for each zone, by zone in its order. */
export function subnetsByZone({ subnets, tables, cluster, internal }: SelectSubnets): Map<string, string> {
  const prefer = better(cluster, internal ? internalSubnetTag : publicSubnetTag);
  const chosen = new Map<string, Subnet>();
  for (const subnet of subnets) {
    const { AvailabilityZone: zone, SubnetId: id } = subnet;
    if (!zone || !id || (!internal && !isPublic(tables, id))) continue;
    const present = chosen.get(zone);
    chosen.set(zone, present ? prefer(present, subnet) : subnet);
  }
  return new Map([...chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, { SubnetId = '' }]) => [zone, SubnetId]));
}
