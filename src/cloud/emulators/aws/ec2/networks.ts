// Regions, zones, networks, subnets and network interfaces.
import type { NetworkInterface, Subnet, Vpc, Zone } from '../../../model/index.ts';
import { listAll } from '../../../client/index.ts';
import { accountId, type Action, type Actions, tagItems } from '../account.ts';
import { AwsError } from '../errors.ts';
import { filtered, type FilterFields, pageOf } from '../pages.ts';
import type { Parameters } from '../parameters.ts';
import type { Xml } from '../xml.ts';
import { loneInterface } from './interface-xml.ts';
import { groupNames } from './world.ts';

/** `local-1a` of `local-1` is `local-1-az1`. */
const zoneId = (name: string, zones: readonly Zone[]): string => {
  const index = zones.findIndex((zone) => zone.name === name);
  return `${zones[index]?.region ?? name}-az${index + 1}`;
};

/** Throws EC2's code for the first id that is not there. */
function chosen<T extends { id: string }>(all: readonly T[], ids: readonly string[], code: string, noun: string): T[] {
  const byId = new Map(all.map((item) => [item.id, item]));
  const unknown = ids.find((id) => !byId.has(id));
  if (unknown !== undefined) throw new AwsError(code, `The ${noun} ID '${unknown}' does not exist`);
  return ids.length === 0 ? [...all] : ids.flatMap((id) => byId.get(id) ?? []);
}

export const paged = <T>(items: readonly T[], parameters: Parameters) =>
  pageOf(items, { size: parameters.integer('MaxResults'), token: parameters.get('NextToken') });

const describeZones: Action = async ({ cloud, region }, parameters) => {
  const zones = (await cloud.listZones()).items;
  const wanted = parameters.list('ZoneName');
  const found = filtered(
    zones.filter(({ name }) => wanted.length === 0 || wanted.includes(name)).map((zone) => ({ ...zone, tags: {} })),
    parameters,
    { 'zone-name': ({ name }) => [name], 'region-name': () => [region], state: () => ['available'] },
  );
  return {
    availabilityZoneInfo: found.map(({ name }) => ({
      zoneName: name,
      zoneId: zoneId(name, zones),
      zoneState: 'available',
      zoneType: 'availability-zone',
      regionName: region,
      groupName: region,
      networkBorderGroup: region,
      optInStatus: 'opt-in-not-required',
    })),
  };
};

const describeRegions: Action = ({ region }) =>
  Promise.resolve({ regionInfo: [{ regionName: region, regionEndpoint: '', optInStatus: 'opt-in-not-required' }] });

const vpcFields: FilterFields<Vpc> = {
  'vpc-id': ({ id }) => [id],
  cidr: ({ cidr }) => [cidr],
  state: () => ['available'],
};

const describeVpcs: Action = async ({ cloud }, parameters) => {
  const all = await listAll((page) => cloud.listVpcs(page));
  const found = chosen(all, parameters.list('VpcId'), 'InvalidVpcID.NotFound', 'vpc');
  const { items, next } = paged(filtered(found, parameters, vpcFields), parameters);
  return {
    vpcSet: items.map(({ id, cidr, name, tags }) => ({
      vpcId: id,
      ownerId: accountId,
      state: 'available',
      cidrBlock: cidr,
      cidrBlockAssociationSet: [{ cidrBlock: cidr, cidrBlockState: { state: 'associated' } }],
      instanceTenancy: 'default',
      isDefault: false,
      tagSet: tagItems({ Name: name, ...tags }),
    })),
    nextToken: next,
  };
};

const subnetFields = (zones: readonly Zone[]): FilterFields<Subnet> => ({
  'subnet-id': ({ id }) => [id],
  'vpc-id': ({ vpcId }) => [vpcId],
  'availability-zone': ({ zone }) => [zone],
  'availability-zone-id': ({ zone }) => [zoneId(zone, zones)],
  'cidr-block': ({ cidr }) => [cidr],
  state: () => ['available'],
});

const sizeOf = (cidr: string): number => 2 ** (32 - Number(cidr.split('/')[1]));

function subnetXml({ id, vpcId, zone, cidr, name, tags }: Subnet, zones: readonly Zone[], used: number): Xml {
  return {
    subnetId: id,
    subnetArn: `arn:aws:ec2:${zones[0]?.region}:${accountId}:subnet/${id}`,
    state: 'available',
    ownerId: accountId,
    vpcId,
    cidrBlock: cidr,
    // Five of each subnet are AWS's own.
    availableIpAddressCount: Math.max(0, sizeOf(cidr) - 5 - used),
    availabilityZone: zone,
    availabilityZoneId: zoneId(zone, zones),
    defaultForAz: false,
    mapPublicIpOnLaunch: false,
    assignIpv6AddressOnCreation: false,
    ipv6CidrBlockAssociationSet: [],
    tagSet: tagItems({ Name: name, ...tags }),
  };
}

const describeSubnets: Action = async ({ cloud }, parameters) => {
  const [zones, all, interfaces] = await Promise.all([
    cloud.listZones(),
    listAll((page) => cloud.listSubnets(page)),
    listAll((page) => cloud.listInterfaces(page)),
  ]);
  const found = chosen(all, parameters.list('SubnetId'), 'InvalidSubnetID.NotFound', 'subnet');
  // The name counts as a tag that is there by itself.
  const named = found.map((subnet) => ({ ...subnet, tags: { Name: subnet.name, ...subnet.tags } }));
  const { items, next } = paged(filtered(named, parameters, subnetFields(zones.items)), parameters);
  const used = (id: string): number => interfaces.filter(({ subnetId }) => subnetId === id).length;
  return { subnetSet: items.map((subnet) => subnetXml(subnet, zones.items, used(subnet.id))), nextToken: next };
};

const interfaceFields: FilterFields<NetworkInterface> = {
  'network-interface-id': ({ id }) => [id],
  'subnet-id': ({ subnetId }) => [subnetId],
  'vpc-id': ({ vpcId }) => [vpcId],
  'availability-zone': ({ zone }) => [zone],
  'private-ip-address': ({ privateAddress }) => [privateAddress],
  'addresses.private-ip-address': ({ privateAddress }) => [privateAddress],
  'attachment.instance-id': ({ attachment }) => [attachment?.instanceId],
  'group-id': ({ securityGroupIds }) => securityGroupIds,
  'requester-id': ({ requesterId }) => [requesterId],
  'requester-managed': ({ requesterManaged }) => [String(requesterManaged)],
  status: ({ attachment }) => [attachment ? 'in-use' : 'available'],
  description: ({ description }) => [description],
};

const describeInterfaces: Action = async (account, parameters) => {
  const all = await listAll((page) => account.cloud.listInterfaces(page));
  const ids = parameters.list('NetworkInterfaceId');
  const found = chosen(all, ids, 'InvalidNetworkInterfaceID.NotFound', 'networkInterface');
  const { items, next } = paged(filtered(found, parameters, interfaceFields), parameters);
  const names = await groupNames(account);
  return { networkInterfaceSet: items.map((item) => loneInterface(item, names, account.region)), nextToken: next };
};

export const networkActions: Actions = {
  DescribeAvailabilityZones: describeZones,
  DescribeRegions: describeRegions,
  DescribeVpcs: describeVpcs,
  DescribeSubnets: describeSubnets,
  DescribeNetworkInterfaces: describeInterfaces,
};
