// The load balancers of a Service, found by their name, which follows from the Service: neither its status nor memory is needed.
import type { Service } from 'sagong/cloud-provider';
import { undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { kindOf } from '../annotations.ts';
import type { Balancer, BalancerKind } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { balancerName } from '../names.ts';
import { compartmentOf } from './plan.ts';

/** Oldest first, also those that are just being deleted. */
async function named({ balancers, settings, unsettled }: Cloud, service: Service, kind: BalancerKind): Promise<Balancer[]> {
  const name = balancerName(kind, service, settings.namePrefix);
  const all = await balancers(kind).list(compartmentOf(service, settings), name);
  return all.filter(({ id }) => !unsettled.isDeleted(id));
}

const isGoing = ({ lifecycleState }: Balancer): boolean => lifecycleState === 'DELETING';
/** Whether the creation of a load balancer failed: it has no address and never gets one. */
export const isStillborn = ({ lifecycleState, ipAddresses }: Balancer): boolean =>
  lifecycleState === 'FAILED' && !ipAddresses.some(({ ipAddress }) => ipAddress);

export interface FoundBalancers {
  /** The one that serves, or is to serve. */
  current?: Balancer;
  /** Others of the Service: of the other kind, a second one by the same name, or one whose creation failed. */
  others: Balancer[];
}

const otherKind = (kind: BalancerKind): BalancerKind => (kind === 'lb' ? 'nlb' : 'lb');

/** An account may have no rights on the kind that it does not use. */
const ofOtherKind = async (cloud: Cloud, service: Service, kind: BalancerKind): Promise<Balancer[]> =>
  (await named(cloud, service, otherKind(kind)).catch(undefinedIfAbsent)) ?? [];

export async function findBalancers(cloud: Cloud, service: Service): Promise<FoundBalancers> {
  const kind = kindOf(service);
  const own = (await named(cloud, service, kind)).filter((one) => !isGoing(one));
  const current = own.find((one) => !isStillborn(one));
  const rest = (await ofOtherKind(cloud, service, kind)).filter((one) => !isGoing(one));
  return { ...(current && { current }), others: [...own.filter((one) => one !== current), ...rest] };
}

/** The load balancers that are deleted with the Service, also where its annotations cannot be read. */
export async function allBalancers(cloud: Cloud, service: Service): Promise<Balancer[]> {
  const kind = kindOrDefault(service);
  return [...(await named(cloud, service, kind)), ...(await ofOtherKind(cloud, service, kind))];
}

export function kindOrDefault(service: Service): BalancerKind {
  try {
    return kindOf(service);
  } catch {
    return 'lb';
  }
}
