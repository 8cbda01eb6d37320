// The address of a load balancer while its forwarding rule is replaced. Google takes an address away with its rule, so it is reserved under the
// name of the load balancer before, and released once the new rule has it: reserved addresses are few in a project, and cost money.
import type { Service } from 'sagong/cloud-provider';
import { fineIfAbsent, isConflict, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { callErrorOf } from 'sagong/cloud-provider/kit';
import type { Tier } from '../annotations.ts';
import type { Address } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { sameLink } from '../links.ts';
import { serviceDescription } from '../names.ts';
import type { BalancerPlan } from './plan.ts';

const byValue = async ({ resources }: Cloud, address: string): Promise<Address | undefined> =>
  (await resources.addresses.list(`address eq ${address}`)).find((one) => one.address === address);

export const releaseAddress = async ({ resources }: Cloud, name: string): Promise<void> => {
  const there = await resources.addresses.get(name).catch(undefinedIfAbsent);
  if (there) await resources.addresses.delete(name).catch(fineIfAbsent);
};

/** Google answers 409 for a name that is taken, and 400 or 409 for an address that is. */
const isTaken = (error: unknown): boolean => isConflict(error) || callErrorOf(error)?.status === 400;

/** Reserves, and gives what is reserved under the name then; undefined: what was asked for is somebody else's. */
async function reserve({ resources }: Cloud, wanted: Address): Promise<Address | undefined> {
  const name = wanted.name ?? '';
  let refusal: unknown;
  await resources.addresses.insert(wanted).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
    refusal = error;
  });
  const there = await resources.addresses.get(name).catch(undefinedIfAbsent);
  if (!there && (refusal === undefined || !wanted.address)) throw refusal ?? new Error(`address ${name} is gone again`);
  return there;
}

interface AddressWish {
  /** '' takes any. */
  address: string;
  addressType: 'EXTERNAL' | 'INTERNAL';
  networkTier?: Tier;
  subnetwork?: string;
}

const fits = (there: Address, { address, addressType, networkTier, subnetwork }: AddressWish): boolean =>
  (address === '' || there.address === address) &&
  (there.addressType ?? 'EXTERNAL') === addressType &&
  (networkTier === undefined || (there.networkTier ?? 'PREMIUM') === networkTier) &&
  (!subnetwork || !there.subnetwork || sameLink(there.subnetwork, subnetwork));

/** Holds an address under the load balancer's name, and gives it. A user who has reserved the same one keeps it under his own name. */
export async function holdAddress(cloud: Cloud, name: string, service: Service, wish: AddressWish): Promise<string> {
  const { resources } = cloud;
  const there = await resources.addresses.get(name).catch(undefinedIfAbsent);
  if (there && fits(there, wish)) return there.address ?? '';
  if (there) await resources.addresses.delete(name).catch(fineIfAbsent);
  const { address, ...more } = wish;
  const wanted: Address = { name, description: serviceDescription(service), ...more, ...(address !== '' && { address }) };
  if (!wish.subnetwork) delete wanted.subnetwork;
  const held = (await reserve(cloud, wanted)) ?? (await byValue(cloud, address));
  if (!held) throw new Error(`address ${address} can be neither reserved nor found`);
  if (!fits(held, wish))
    throw new Error(
      `address ${held.address} (${held.name}) is ${held.addressType} ${held.networkTier ?? ''}, which does not fit`,
    );
  return held.address ?? '';
}

/**
 * Whether the external address that the Service asks for is one that its owner has reserved. Throws when it can be used in no way: it must be
 * reserved, of the right network tier, or be what the load balancer has.
 */
export async function isOwnersAddress(cloud: Cloud, plan: BalancerPlan, tier: Tier, current: string): Promise<boolean> {
  const { requestedAddress, name } = plan;
  if (requestedAddress === '') return false;
  const there = await byValue(cloud, requestedAddress);
  if (!there || there.name === name) {
    if (there || requestedAddress === current) return false;
    throw new Error(`requested ip ${JSON.stringify(requestedAddress)} is neither static nor assigned to the LB`);
  }
  const found = there.networkTier ?? 'PREMIUM';
  if (found !== tier)
    throw new Error(`requested IP ${JSON.stringify(requestedAddress)} belongs to the ${found} network tier; expected ${tier}`);
  return true;
}
