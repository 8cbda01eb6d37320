// Changing and searching the world: every change makes a new one that shares what stays.
import { deepEqual } from '#utils';
import { accessDenied, limitExceeded, notFound } from '../api/errors.ts';
import type {
  Address,
  DnsZone,
  Instance,
  LoadBalancer,
  NetworkInterface,
  RouteTable,
  SecurityGroup,
  Subnet,
  Vpc,
  World,
} from '../model/index.ts';
import { type Account, type Context, timestamp } from './context.ts';

interface Items {
  vpcs: Vpc;
  subnets: Subnet;
  routeTables: RouteTable;
  securityGroups: SecurityGroup;
  interfaces: NetworkInterface;
  instances: Instance;
  addresses: Address;
  loadBalancers: LoadBalancer;
  dnsZones: DnsZone;
}
export type Collection = keyof Items & keyof World;
export type ItemOf<C extends Collection> = Items[C];

/** What a kind of resource is called in ids and in errors. */
export const kinds: Record<Collection, { prefix: string; noun: string }> = {
  vpcs: { prefix: 'vpc', noun: 'Vpc' },
  subnets: { prefix: 'subnet', noun: 'Subnet' },
  routeTables: { prefix: 'rtb', noun: 'RouteTable' },
  securityGroups: { prefix: 'sg', noun: 'SecurityGroup' },
  interfaces: { prefix: 'eni', noun: 'Interface' },
  instances: { prefix: 'i', noun: 'Instance' },
  addresses: { prefix: 'eip', noun: 'Address' },
  loadBalancers: { prefix: 'lb', noun: 'LoadBalancer' },
  dnsZones: { prefix: 'zone', noun: 'DnsZone' },
};
export const collections = Object.keys(kinds) as Collection[];

const mapOf = <C extends Collection>(world: World, collection: C): ReadonlyMap<string, ItemOf<C>> =>
  world[collection] as unknown as ReadonlyMap<string, ItemOf<C>>;

export const itemsOf = <C extends Collection>(world: World, collection: C): ItemOf<C>[] => [...mapOf(world, collection).values()];

/** The world with this resource added, or in place of the one with the same id. The same world when that one is equal. */
export function put<C extends Collection>(world: World, collection: C, item: ItemOf<C>): World {
  if (deepEqual(mapOf(world, collection).get(item.id), item)) return world;
  const changed = new Map(mapOf(world, collection));
  Object.freeze(item);
  changed.set(item.id, item);
  return { ...world, [collection]: changed };
}
export function remove(world: World, collection: Collection, id: string): World {
  const changed = new Map<string, unknown>(world[collection]);
  changed.delete(id);
  return { ...world, [collection]: changed };
}

interface Owned {
  ownerId: string;
  vpcId?: string;
  requesterManaged?: boolean;
  requesterId?: string | undefined;
}

/** Accounts see what is theirs, and interfaces that services have in their networks. Services see everything. */
export const isVisible = (world: World, account: Account, item: Owned): boolean =>
  account.role === 'service' ||
  item.ownerId === account.id ||
  (item.requesterManaged === true && world.vpcs.get(item.vpcId ?? '')?.ownerId === account.id);

/** The resource, when the account may see it. Throws `<Kind>NotFound`. */
export function visible<C extends Collection>(
  world: World,
  { account }: Pick<Context, 'account'>,
  collection: C,
  id: string,
): ItemOf<C> {
  const item = mapOf(world, collection).get(id);
  if (item === undefined || !isVisible(world, account, item)) throw notFound(kinds[collection].noun, id);
  return item;
}
/** Who may change it: its owner, or the service that has it in the owner's network. */
const managerOf = ({ ownerId, requesterManaged, requesterId }: Owned): string =>
  requesterManaged && requesterId !== undefined ? requesterId : ownerId;

/** The resource, when the account may change it. Throws `<Kind>NotFound` or `AccessDenied`. */
export function own<C extends Collection>(world: World, context: Pick<Context, 'account'>, collection: C, id: string): ItemOf<C> {
  const item = visible(world, context, collection, id);
  const manager = managerOf(item);
  if (manager === context.account.id) return item;
  throw accessDenied(manager === item.ownerId ? `${id} belongs to another account` : `${id} is managed by ${manager}`);
}

/** The fields that every new resource has, whatever it is. */
export function newResource(
  world: World,
  collection: Collection,
  { ids, now, account }: Context,
  tags: Record<string, string>,
): { id: string; ownerId: string; tags: Record<string, string>; createdAt: string } {
  let id: string;
  do id = ids(kinds[collection].prefix);
  while (world[collection].has(id));
  return { id, ownerId: account.id, tags, createdAt: timestamp(now) };
}

/** Throws `LimitExceeded` when one more would be too many. */
export function withinQuota(have: number, most: number, what: string): void {
  if (have >= most) throw limitExceeded(`at most ${most} ${what}`);
}
export function withinAccountQuota(
  world: World,
  { account, settings }: Pick<Context, 'settings'> & { account: Pick<Account, 'id'> },
  collection: 'vpcs' | 'interfaces' | 'instances' | 'addresses' | 'loadBalancers' | 'dnsZones',
): void {
  const have = itemsOf(world, collection).filter(({ ownerId }) => ownerId === account.id).length;
  withinQuota(have, settings.quotas[collection], `of these in an account (${collection})`);
}
