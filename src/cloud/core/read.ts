// Every question about the world: one resource, or a page of those the account may see.
import { invalid } from '../api/errors.ts';
import type { OperationId } from '../api/index.ts';
import type { World } from '../model/index.ts';
import type { Context } from './context.ts';
import { type Collection, isVisible, itemsOf, visible } from './world.ts';

type ReadContext = Pick<Context, 'account' | 'settings'>;
type Item = { id: string; createdAt: string; tags: Record<string, string>; ownerId: string };

const lists: Partial<Record<OperationId, Collection>> = {
  listVpcs: 'vpcs',
  listSubnets: 'subnets',
  listRouteTables: 'routeTables',
  listSecurityGroups: 'securityGroups',
  listInterfaces: 'interfaces',
  listInstances: 'instances',
  listAddresses: 'addresses',
  listLoadBalancers: 'loadBalancers',
  listDnsZones: 'dnsZones',
};
const gets: Partial<Record<OperationId, readonly [Collection, string]>> = {
  getVpc: ['vpcs', 'vpcId'],
  getSubnet: ['subnets', 'subnetId'],
  getRouteTable: ['routeTables', 'routeTableId'],
  getSecurityGroup: ['securityGroups', 'securityGroupId'],
  getInterface: ['interfaces', 'interfaceId'],
  getInstance: ['instances', 'instanceId'],
  getAddress: ['addresses', 'addressId'],
  getLoadBalancer: ['loadBalancers', 'loadBalancerId'],
  getDnsZone: ['dnsZones', 'dnsZoneId'],
};

/** Filters that are no field of the resource. */
const derived: Record<string, (item: Record<string, unknown>, wanted: unknown) => boolean> = {
  instanceId: ({ attachment }, wanted) => (attachment as { instanceId: string } | undefined)?.instanceId === wanted,
  vpcId: ({ vpcId, vpcIds }, wanted) => vpcId === wanted || (Array.isArray(vpcIds) && vpcIds.includes(wanted)),
};

const fits = (item: Item, filters: readonly (readonly [string, unknown])[], tags: Record<string, string>): boolean =>
  filters.every(([key, wanted]) => {
    const fields = item as unknown as Record<string, unknown>;
    return derived[key]?.(fields, wanted) ?? fields[key] === wanted;
  }) && Object.entries(tags).every(([key, value]) => item.tags[key] === value);

/** Where an item stands in every list: by time, then by id. */
const place = ({ createdAt, id }: Item): string => `${createdAt} ${id}`;

function decodeToken(token: string): string {
  try {
    return atob(token);
  } catch {
    throw invalid('nextToken', 'is not one of this API');
  }
}

function list(world: World, collection: Collection, input: Record<string, unknown>, { account }: ReadContext): unknown {
  const { limit, nextToken, tags = {}, ...rest } = input as { limit: number; nextToken?: string; tags?: Record<string, string> };
  const filters = Object.entries(rest).filter(([, wanted]) => wanted !== undefined);
  const after = nextToken === undefined ? '' : decodeToken(nextToken);
  const all = (itemsOf(world, collection) as Item[])
    .filter((item) => fits(item, filters, tags) && isVisible(world, account, item))
    .map((item) => ({ item, at: place(item) }))
    .filter(({ at }) => at > after)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const items = all.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(({ item }) => item), ...(last && all.length > limit && { nextToken: btoa(last.at) }) };
}

/** The answer's body. Throws a Refusal; an operation that is no question of the world's is a programmer's error. */
export function read(world: World, operation: OperationId, input: Record<string, unknown>, context: ReadContext): unknown {
  if (operation === 'listZones') return { items: context.settings.zones };
  if (operation === 'listInstanceTypes') return { items: context.settings.instanceTypes };
  const collection = lists[operation];
  if (collection) return list(world, collection, input, context);
  const get = gets[operation];
  if (get) return visible(world, context, get[0], String(input[get[1]]));
  throw new Error(`assertion failed: ${operation} reads nothing`);
}

export const isRead = (operation: OperationId): boolean =>
  operation === 'listZones' || operation === 'listInstanceTypes' || operation in lists || operation in gets;
