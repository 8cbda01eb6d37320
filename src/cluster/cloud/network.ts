// The network of a cluster in its cloud: one VPC, a subnet per zone, a security group for everything of the cluster, and the interface by
// which the control plane is present among its nodes. Found by tags, so that a second start finds the same; made where it is missing.
import { type CloudClient, listAll } from '#cloud/client';
import type { NetworkInterface, RouteTable, SecurityGroup, Subnet, Vpc } from '#cloud';

export interface ClusterNetwork {
  vpc: Vpc;
  /** One a zone, in the order of the zones. */
  subnets: Subnet[];
  routeTable: RouteTable;
  group: SecurityGroup;
}

export const vpcCidr = '10.77.0.0/16';
/** The range of the provider's network, which a managed control plane is in. */
export const providerCidr = '10.177.0.0/16';
/**
 * The addresses of the apiserver and the name server, as nodes and pods see them: one in the first zone and, for managed control planes, one in the
 * second.
 */
export const endpointAddress = '10.77.0.10';
export const secondEndpointAddress = '10.77.16.10';
/** The address of `sagong up` where a managed control plane is on machines, in the provider's network and in the cluster's own. */
export const operatorAddress = (cidr: string): string => addressAt(9, cidr);
/** Inside each subnet, of the cluster's first node. */
const firstNodeHost = 11;
/** The number of the first control-plane machine's address: it comes before those of the nodes. */
const firstControlPlaneHost = 5;
const subnetSize = 4096;

/** The tag that everything of a cluster carries. */
export const clusterTag = 'sagong.dev/cluster';
export const roleTag = 'sagong.dev/role';

/** The address with that number in a network with a /16. */
const addressAt = (offset: number, cidr = vpcCidr): string =>
  `${cidr.split('.').slice(0, 2).join('.')}.${Math.floor(offset / 256)}.${offset % 256}`;
const subnetCidr = (index: number, cidr: string): string => `${addressAt(index * subnetSize, cidr)}/20`;
/** The router's address in the subnet of an address. */
export const gatewayNear = (address: string): string => {
  const [, , third = 0] = address.split('.').map(Number);
  return addressAt(Math.floor((third * 256) / subnetSize) * subnetSize + 1);
};

/** The subnet and address of a node by its `index`, from 0: nodes take the zones in turn. */
export const nodePlace = (index: number, zones: number): { subnet: number; address: string } => ({
  subnet: index % zones,
  address: addressAt((index % zones) * subnetSize + firstNodeHost + Math.floor(index / zones)),
});

/** Control-plane machines take the zones in turn. `index` from 0. */
export const controlPlanePlace = (index: number, zones: number, cidr = vpcCidr): { subnet: number; address: string } => ({
  subnet: index % zones,
  address: addressAt((index % zones) * subnetSize + firstControlPlaneHost + Math.floor(index / zones), cidr),
});
/** The place of a node that is called by its private DNS name (`ip-10-77-0-11.…`); undefined for other names. */
export function placeNamed(name: string): { subnet: number; address: string } | undefined {
  const [, third, fourth] = /^ip-10-77-(\d{1,3})-(\d{1,3})\./.exec(name) ?? [];
  if (third === undefined || fourth === undefined) return undefined;
  const offset = Number(third) * 256 + Number(fourth);
  return { subnet: Math.floor(offset / subnetSize), address: addressAt(offset) };
}

interface Wanted {
  cluster: string;
  /** Whether nodes have a way out of the machine. */
  internet: boolean;
  /** Whether node ports are let in from outside. */
  nodePorts?: boolean;
  /** The network of the provider's, in place of the cluster's own. */
  provider?: boolean;
}

export async function ensureNetwork(
  cloud: CloudClient,
  { cluster, internet, nodePorts = false, provider = false }: Wanted,
): Promise<ClusterNetwork> {
  const tags = { [clusterTag]: cluster, ...(provider && { [roleTag]: 'control-plane' }) };
  const [known] = (await cloud.listVpcs({ tags })).items;
  const wanted = provider ? { name: `${cluster}-control-plane`, cidr: providerCidr } : { name: cluster, cidr: vpcCidr };
  const vpc = known ?? (await cloud.createVpc({ ...wanted, tags }));
  const [subnets, routeTable, group] = await Promise.all([
    ensureSubnets(cloud, vpc, tags),
    ensureRouteTable(cloud, vpc, internet),
    ensureGroup(cloud, vpc, tags, nodePorts),
  ]);
  return { vpc, subnets, routeTable, group };
}

async function ensureSubnets(cloud: CloudClient, { id: vpcId, cidr }: Vpc, tags: Record<string, string>): Promise<Subnet[]> {
  const zones = (await cloud.listZones()).items;
  const present = await listAll((page) => cloud.listSubnets({ vpcId, tags, ...page }));
  const wanted = zones.map(
    async ({ name: zone }, index) =>
      present.find((subnet) => subnet.zone === zone) ??
      cloud.createSubnet({ name: `${tags[clusterTag]}-${zone}`, vpcId, zone, cidr: subnetCidr(index, cidr), tags }),
  );
  return Promise.all(wanted);
}

async function ensureRouteTable(cloud: CloudClient, { id: vpcId }: Vpc, internet: boolean): Promise<RouteTable> {
  const [table] = (await cloud.listRouteTables({ vpcId, main: 'true' })).items;
  if (!table) throw new Error(`the cloud's network ${vpcId} has no main route table`);
  const destination = '0.0.0.0/0';
  const present = table.routes.some((route) => route.destination === destination);
  if (internet && !present)
    return cloud.putRoute({ routeTableId: table.id, destination, target: { kind: 'internet-gateway' }, name: 'internet' });
  if (!internet && present) await cloud.deleteRoute({ routeTableId: table.id, destination });
  return table;
}

/**
 * Members reach each other on all ports, and do so again where the rule was taken away; from outside come only answers, what load balancers let in, and node
 * ports where they are to.
 */
async function ensureGroup(
  cloud: CloudClient,
  { id: vpcId }: Vpc,
  tags: Record<string, string>,
  nodePorts: boolean,
): Promise<SecurityGroup> {
  const name = `${tags[clusterTag]}-cluster`;
  const [known] = (await cloud.listSecurityGroups({ vpcId, name })).items;
  const group =
    known ?? (await cloud.createSecurityGroup({ vpcId, name, description: 'control plane and nodes of the cluster', tags }));
  const rules: SecurityGroup['ingress'] = [
    ...(group.ingress.some(({ protocol, groupId }) => protocol === 'all' && groupId === group.id)
      ? []
      : [{ protocol: 'all' as const, groupId: group.id, description: 'members of the cluster' }]),
    ...(nodePorts && !group.ingress.some(({ description }) => description === nodePortsRule) ? nodePortRules : []),
  ];
  return rules.length === 0 ? group : cloud.authorizeSecurityGroupIngress({ securityGroupId: group.id, rules });
}

/**
 * Makes the security group of control-plane machines: everybody may reach the API, and only they themselves etcd. The cluster's nodes let them in.
 */
export async function ensureControlPlaneGroup(
  cloud: CloudClient,
  { vpc, group }: ClusterNetwork,
  port: number,
): Promise<SecurityGroup> {
  const name = `${vpc.name}-control-plane`;
  const description = 'control-plane machines';
  const [known] = (await cloud.listSecurityGroups({ vpcId: vpc.id, name })).items;
  const own = known ?? (await cloud.createSecurityGroup({ vpcId: vpc.id, name, description, tags: group.tags }));
  if (own.ingress.length === 0)
    await cloud.authorizeSecurityGroupIngress({
      securityGroupId: own.id,
      rules: [
        { protocol: 'all', groupId: own.id, description },
        { protocol: 'tcp', fromPort: port, toPort: port, cidr: '0.0.0.0/0', description: 'the API' },
      ],
    });
  if (!group.ingress.some((rule) => rule.groupId === own.id))
    await cloud.authorizeSecurityGroupIngress({
      securityGroupId: group.id,
      rules: [{ protocol: 'all', groupId: own.id, description }],
    });
  return own;
}

const nodePortsRule = 'node ports';
/** The apiserver's default range. */
const nodePortRules = (['tcp', 'udp'] as const).map((protocol) => ({
  protocol,
  fromPort: 30_000,
  toPort: 32_767,
  cidr: '0.0.0.0/0',
  description: nodePortsRule,
}));

/** An interface for the control plane in one of the cluster's subnets; the caller's own, also where the subnet is somebody else's. */
export async function ensureEndpoint(
  cloud: CloudClient,
  { subnets, group, vpc }: ClusterNetwork,
  { subnet, address, description = 'control plane' }: { subnet: number; address: string; description?: string },
): Promise<NetworkInterface> {
  const tags = { [clusterTag]: vpc.name, [roleTag]: 'control-plane' };
  const [known] = (await cloud.listInterfaces({ vpcId: vpc.id, privateAddress: address })).items;
  return (
    known ??
    cloud.createInterface({
      subnetId: subnets[subnet]?.id ?? '',
      description,
      privateAddress: address,
      securityGroupIds: [group.id],
      tags,
    })
  );
}
