// Makes a load balancer whole in one request, under a retry token that follows from the Service: an answer that is lost, or a second manager, makes no
// second one.
import { failedWith, poll, uidOf, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { isTokenUsedUp } from '../api/errors.ts';
import type { Balancer, NewBalancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { retryTokensMax, unsettledMs, workRequestAgainMs } from '../limits.ts';
import { shapeOf } from './shape.ts';
import { ipVersionOf } from './subnets.ts';
import type { FullPlan } from './wanted.ts';
import { awaitWork } from './work-requests.ts';

async function reservedIp({ core }: Cloud, address: string): Promise<string> {
  const { id, lifecycleState } = await core.publicIp(address);
  if (lifecycleState !== 'AVAILABLE') throw new Error('The IP address provided is not available for use.');
  return id;
}

async function requestFor(cloud: Cloud, plan: FullPlan, groups: string[]): Promise<NewBalancer> {
  const { kind, service, reservedAddress, families, wanted, freeformTags, definedTags } = plan;
  return {
    compartmentId: plan.compartment,
    displayName: plan.name,
    isPrivate: plan.internal,
    subnetIds: plan.subnets.map(({ id }) => id),
    networkSecurityGroupIds: groups,
    listeners: wanted.listeners,
    backendSets: wanted.backendSets,
    certificates: wanted.certificates,
    ruleSets: wanted.ruleSets ?? {},
    ...(freeformTags && { freeformTags }),
    ...(definedTags && { definedTags }),
    ...(reservedAddress && { reservedIps: [{ id: await reservedIp(cloud, reservedAddress) }] }),
    ...(kind === 'lb' && { ...shapeOf(service), ipMode: families.includes('IPv6') ? 'IPV6' : 'IPV4' }),
    ...(kind === 'nlb' && { nlbIpVersion: ipVersionOf(families) }),
    ...(plan.assignedPrivateIpv4 && { assignedPrivateIpv4: plan.assignedPrivateIpv4 }),
    ...(plan.assignedIpv6 && { assignedIpv6: plan.assignedIpv6 }),
  };
}

/** Makes a load balancer under a token; undefined where one was made under it that is gone since. */
async function createUnder(cloud: Cloud, plan: FullPlan, request: NewBalancer, token: string): Promise<Balancer | undefined> {
  const api = cloud.balancers(plan.kind);
  let id: string;
  try {
    id = await api.create(request, token);
  } catch (error) {
    if (isTokenUsedUp(error)) return undefined;
    // Refused, so that nothing was made.
    if (failedWith(error, 'refused')) cloud.unsettled.end(uidOf(plan.service));
    throw error;
  }
  const { balancerId } = (await awaitWork(cloud, api, id)) ?? {};
  if (balancerId === undefined) throw new Error(`work request ${id} names no load balancer`);
  return shown(cloud, plan, balancerId);
}

const isGone = ({ lifecycleState }: Balancer): boolean => lifecycleState === 'DELETED' || lifecycleState === 'DELETING';
const hasAddress = ({ ipAddresses }: Balancer): boolean => ipAddresses.some(({ ipAddress }) => ipAddress);

/** Its work request may have ended before the API shows what came of it. Undefined: it is gone. */
function shown(
  { balancers, clock, signal, unsettled }: Cloud,
  { kind, name }: FullPlan,
  id: string,
): Promise<Balancer | undefined> {
  const api = balancers(kind);
  const untilMs = clock.monotonic() + unsettledMs;
  return poll<Balancer | undefined>({
    what: `load balancer ${name}`,
    clock,
    againAfterMs: workRequestAgainMs,
    ...(signal && { signal }),
    async ask() {
      const made = await api.get(id).catch(undefinedIfAbsent);
      if (made && !isGone(made) && made.lifecycleState !== 'CREATING' && hasAddress(made)) return { done: true, value: made };
      const isOver = made ? isGone(made) : unsettled.isDeleted(id) || clock.monotonic() >= untilMs;
      return isOver ? { done: true, value: undefined } : { done: false, state: made?.lifecycleState ?? 'it is not shown' };
    },
  });
}

export async function createBalancer(cloud: Cloud, plan: FullPlan, groups: string[]): Promise<Balancer> {
  const request = await requestFor(cloud, plan, groups);
  const uid = uidOf(plan.service);
  cloud.unsettled.begin(uid);
  for (let number = 0; number < retryTokensMax; number++) {
    const made = await createUnder(cloud, plan, request, number === 0 ? uid : `${uid}-${number}`);
    if (made) return made;
  }
  throw new Error(`load balancer ${plan.name} was made and deleted too often today`);
}
