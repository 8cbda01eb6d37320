// Public addresses that are kept until they are released, and translated to an interface or taken by a load balancer.
import { conflicting, inUse } from '../api/errors.ts';
import type { Address, NetworkInterface, World } from '../model/index.ts';
import { choosePublic } from './allocate.ts';
import type { Changes } from './command.ts';
import { withoutInterface } from './interfaces.ts';
import { newResource, own, put, remove, withinAccountQuota } from './world.ts';

const withoutPublic = ({ publicAddress: _, ...item }: NetworkInterface): NetworkInterface => item;

/** The world in which the address is translated to nothing. */
function release(world: World, address: Address): World {
  const item = world.interfaces.get(address.interfaceId ?? '');
  const changed = put(world, 'addresses', withoutInterface(address));
  return item ? put(changed, 'interfaces', withoutPublic(item)) : changed;
}

export const addressChanges: Changes<'allocateAddress' | 'associateAddress' | 'disassociateAddress' | 'releaseAddress'> = {
  allocateAddress(world, { publicAddress, tags }, context) {
    withinAccountQuota(world, context, 'addresses');
    const address: Address = {
      ...newResource(world, 'addresses', context, tags),
      publicAddress: choosePublic(world, context.settings.publicCidr, publicAddress, 'publicAddress'),
    };
    return { world: put(world, 'addresses', address), result: address };
  },
  associateAddress(world, { addressId, interfaceId }, context) {
    const address = own(world, context, 'addresses', addressId);
    own(world, context, 'interfaces', interfaceId);
    if (address.interfaceId === interfaceId) return { world, result: address };
    if (address.loadBalancerId) throw inUse(`${addressId} is the address of ${address.loadBalancerId}`);
    for (const other of world.addresses.values())
      if (other.interfaceId === interfaceId) throw conflicting('AddressAlreadyAssociated', `${interfaceId} has ${other.id}`);
    const released = release(world, address);
    const item = own(released, context, 'interfaces', interfaceId);
    const changed = { ...address, interfaceId };
    const withAddress = put(released, 'addresses', changed);
    return { world: put(withAddress, 'interfaces', { ...item, publicAddress: address.publicAddress }), result: changed };
  },
  disassociateAddress(world, { addressId }, context) {
    const address = own(world, context, 'addresses', addressId);
    if (address.loadBalancerId) throw inUse(`${addressId} is the address of ${address.loadBalancerId}`);
    return { world: release(world, address), result: withoutInterface(address) };
  },
  releaseAddress(world, { addressId }, context) {
    const { id, interfaceId, loadBalancerId } = own(world, context, 'addresses', addressId);
    const user = interfaceId ?? loadBalancerId;
    if (user !== undefined) throw inUse(`${id} is associated with ${user}`);
    return { world: remove(world, 'addresses', id), result: undefined };
  },
};
