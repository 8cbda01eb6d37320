// Network interfaces. One that a service makes in a customer's subnet is the service's, and the customer can see but not change it.
import { conflicting, inUse, invalid } from '../api/errors.ts';
import type { NetworkInterface, Subnet, World } from '../model/index.ts';
import { choosePrivate } from './allocate.ts';
import type { Changes } from './command.ts';
import type { Context } from './context.ts';
import { itemsOf, newResource, own, put, remove, visible, withinAccountQuota, withinQuota } from './world.ts';

export function checkGroups(world: World, context: Context, vpcId: string, ids: readonly string[]): string[] {
  for (const id of ids)
    if (visible(world, context, 'securityGroups', id).vpcId !== vpcId)
      throw invalid('securityGroupIds', `${id} is in another VPC`);
  return [...new Set(ids)];
}

const defaultGroup = (world: World, vpcId: string): string[] =>
  itemsOf(world, 'securityGroups').flatMap((group) => (group.vpcId === vpcId && group.name === 'default' ? [group.id] : []));

export interface NewInterface {
  description: string;
  privateAddress?: string | undefined;
  securityGroupIds?: string[] | undefined;
  sourceDestCheck: boolean;
  tags: Record<string, string>;
}

/** An interface that belongs to who has the subnet, attached to nothing that its owner could see. */
export function newInterface(world: World, context: Context, subnet: Subnet, wanted: NewInterface): NetworkInterface {
  const { ownerId } = subnet;
  withinAccountQuota(world, { ...context, account: { id: ownerId } }, 'interfaces');
  const foreign = ownerId !== context.account.id;
  return {
    ...newResource(world, 'interfaces', context, wanted.tags),
    ownerId,
    vpcId: subnet.vpcId,
    subnetId: subnet.id,
    zone: subnet.zone,
    description: wanted.description,
    privateAddress: choosePrivate(world, subnet, wanted.privateAddress, 'privateAddress'),
    securityGroupIds: wanted.securityGroupIds
      ? checkGroups(world, context, subnet.vpcId, wanted.securityGroupIds)
      : defaultGroup(world, subnet.vpcId),
    sourceDestCheck: wanted.sourceDestCheck,
    requesterManaged: foreign,
    ...(foreign && { requesterId: context.account.id, instanceOwnerId: context.account.id }),
  };
}

/** Takes an interface and what refers to it out of the world. */
export function dropInterface(world: World, id: string): World {
  let changed = remove(world, 'interfaces', id);
  for (const address of world.addresses.values())
    if (address.interfaceId === id) changed = put(changed, 'addresses', withoutInterface(address));
  return changed;
}
export const withoutInterface = <T extends { interfaceId?: string | undefined }>({
  interfaceId: _,
  ...address
}: T): Omit<T, 'interfaceId'> => address;

const withoutAttachment = ({ attachment: _, ...detached }: NetworkInterface): NetworkInterface => detached;

/** Takes an interface off its instance. */
export function detach(world: World, item: NetworkInterface): World {
  const instance = world.instances.get(item.attachment?.instanceId ?? '');
  const changed = put(world, 'interfaces', withoutAttachment(item));
  if (!instance) return changed;
  return put(changed, 'instances', { ...instance, interfaceIds: instance.interfaceIds.filter((id) => id !== item.id) });
}

function freeIndex(world: World, interfaceIds: readonly string[], wanted: number | undefined): number {
  const taken = new Set(interfaceIds.map((id) => world.interfaces.get(id)?.attachment?.deviceIndex));
  if (wanted !== undefined) {
    if (taken.has(wanted)) throw conflicting('DeviceIndexInUse', `the instance has an interface of index ${wanted}`);
    return wanted;
  }
  let index = 1;
  while (taken.has(index)) index++;
  return index;
}

export const interfaceChanges: Changes<
  'createInterface' | 'modifyInterface' | 'attachInterface' | 'detachInterface' | 'deleteInterface'
> = {
  createInterface(world, { subnetId, ...wanted }, context) {
    const subnet = visible(world, context, 'subnets', subnetId);
    const made = newInterface(world, context, subnet, wanted);
    return { world: put(world, 'interfaces', made), result: made };
  },
  modifyInterface(world, { interfaceId, sourceDestCheck, securityGroupIds, description }, context) {
    const item = own(world, context, 'interfaces', interfaceId);
    const changed = {
      ...item,
      ...(sourceDestCheck !== undefined && { sourceDestCheck }),
      ...(securityGroupIds && { securityGroupIds: checkGroups(world, context, item.vpcId, securityGroupIds) }),
      ...(description !== undefined && { description }),
    };
    return { world: put(world, 'interfaces', changed), result: changed };
  },
  attachInterface(world, { interfaceId, instanceId, deviceIndex }, context) {
    const item = own(world, context, 'interfaces', interfaceId);
    const instance = own(world, context, 'instances', instanceId);
    if (item.attachment) throw inUse(`${interfaceId} is attached to ${item.attachment.instanceId}`);
    if (instance.state === 'shutting-down' || instance.state === 'terminated')
      throw conflicting('IncorrectInstanceState', `${instanceId} is ${instance.state}`);
    if (item.zone !== instance.zone)
      throw invalid('instanceId', `${instanceId} is in the zone ${instance.zone}, not in ${item.zone}`);
    withinQuota(instance.interfaceIds.length, context.settings.quotas.interfacesPerInstance, 'interfaces at an instance');
    const index = freeIndex(world, instance.interfaceIds, deviceIndex);
    const attached = { ...item, attachment: { instanceId, deviceIndex: index } };
    const changed = put(world, 'interfaces', attached);
    const grown = { ...instance, interfaceIds: [...instance.interfaceIds, interfaceId] };
    return { world: put(changed, 'instances', grown), result: attached };
  },
  detachInterface(world, { interfaceId }, context) {
    const item = own(world, context, 'interfaces', interfaceId);
    if (!item.attachment) return { world, result: item };
    if (item.attachment.deviceIndex === 0) throw inUse(`${interfaceId} is the first interface of ${item.attachment.instanceId}`);
    return { world: detach(world, item), result: withoutAttachment(item) };
  },
  deleteInterface(world, { interfaceId }, context) {
    const item = own(world, context, 'interfaces', interfaceId);
    if (item.attachment) throw inUse(`${interfaceId} is attached to ${item.attachment.instanceId}`);
    return { world: dropInterface(world, interfaceId), result: undefined };
  },
};
