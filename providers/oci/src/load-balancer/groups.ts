// The network security group that a Service has to itself where it asks for `security-rule-management-mode: NSG`, and its rules in the groups of nodes.
import type { Service } from 'sagong/cloud-provider';
import { isAbsent, isConflict, uidOf } from 'sagong/cloud-provider/kit';
import { isTokenUsedUp } from '../api/errors.ts';
import type { GroupRule, SecurityGroup } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { groupRulesMax, retryTokensMax } from '../limits.ts';
import { groupName, groupRuleMark, groupTags } from '../names.ts';
import { backendRules, frontendRules, ruleChanges } from './group-rules.ts';
import { type BalancerPlan, compartmentOf } from './plan.ts';

const isOf =
  (service: Service) =>
  ({ freeformTags = {}, lifecycleState }: SecurityGroup): boolean =>
    !lifecycleState.startsWith('TERMINAT') &&
    Object.entries(groupTags(service)).every(([key, value]) => freeformTags[key] === value);

/** `mayLack`: whoever keeps no groups may have no right to see them. */
export async function ownGroups(cloud: Cloud, service: Service, vcnId: string, mayLack = true): Promise<SecurityGroup[]> {
  const { core, settings, unsettled } = cloud;
  if (vcnId === '') return [];
  try {
    const named = await core.groups(compartmentOf(service, settings), vcnId, groupName(service));
    return named.filter(isOf(service)).filter(({ id }) => !unsettled.isDeleted(id));
  } catch (error) {
    if (mayLack && isAbsent(error)) return [];
    throw error;
  }
}

/** Makes a group. A request that is sent twice makes one group; the token of a group that was deleted since makes nothing any more. */
async function create({ core, settings }: Cloud, service: Service, vcnId: string): Promise<SecurityGroup> {
  const group = {
    compartmentId: compartmentOf(service, settings),
    vcnId,
    displayName: groupName(service),
    freeformTags: groupTags(service),
  };
  for (let number = 0; ; number++)
    try {
      return await core.createGroup(group, `${uidOf(service)}-nsg${number === 0 ? '' : `-${number}`}`);
    } catch (error) {
      if (!isTokenUsedUp(error) || number >= retryTokensMax) throw error;
    }
}

const batches = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / groupRulesMax) }, (_, at) =>
    all.slice(at * groupRulesMax, (at + 1) * groupRulesMax),
  );

async function ensureRules({ core }: Cloud, id: string, wanted: readonly GroupRule[], mark: string): Promise<void> {
  const { add, remove } = ruleChanges(await core.groupRules(id), wanted, mark);
  for (const some of batches(add)) await core.addGroupRules(id, some);
  for (const some of batches(remove)) await core.removeGroupRules(id, some);
}

/** Groups of nodes that the Service named before: its own group still reaches them. */
async function formerBackendGroups({ core }: Cloud, id: string, mark: string): Promise<string[]> {
  const rules = (await core.groupRules(id)).filter(
    ({ description, direction }) => description === mark && direction === 'EGRESS',
  );
  return [...new Set(rules.flatMap(({ destination }) => (destination ? [destination] : [])))];
}

async function removeRules(cloud: Cloud, id: string, mark: string): Promise<void> {
  await cloud
    .turn(`network security group ${id}`, () => ensureRules(cloud, id, [], mark), cloud.signal)
    .catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
    });
}

/** That somebody writes to it, as upstream tells its owner. */
async function tag({ core }: Cloud, id: string): Promise<void> {
  const group = await core.group(id);
  if (group.freeformTags?.['ManagedBy'] !== undefined) return;
  await core.tagGroup(group, { ...group.freeformTags, ManagedBy: 'CCM' }).catch((error: unknown) => {
    // Somebody else tags it at the same time.
    if (!isConflict(error)) throw error;
  });
}

/** Gives the OCID of the Service's own group, which is made where it is missing. */
export async function ensureGroup(cloud: Cloud, plan: BalancerPlan, vcnId: string): Promise<string> {
  const { service, backendGroups } = plan;
  const mark = groupRuleMark(service);
  const [there] = await ownGroups(cloud, service, vcnId, false);
  if (!there) cloud.unsettled.begin(uidOf(service));
  const { id } = there ?? (await create(cloud, service, vcnId));
  for (const former of there ? await formerBackendGroups(cloud, id, mark) : [])
    if (!backendGroups.includes(former)) await removeRules(cloud, former, mark);
  await ensureRules(cloud, id, frontendRules(plan), mark);
  for (const group of backendGroups) {
    await tag(cloud, group);
    await cloud.turn(
      `network security group ${group}`,
      () => ensureRules(cloud, group, backendRules(plan, id), mark),
      cloud.signal,
    );
  }
  return id;
}

/** Deletes a Service's own group, with its rules in the groups of nodes. That is possible once no load balancer is in it. */
export async function deleteGroup(
  cloud: Cloud,
  service: Service,
  { id }: SecurityGroup,
  backendGroups: readonly string[],
): Promise<void> {
  const mark = groupRuleMark(service);
  const former = await formerBackendGroups(cloud, id, mark).catch((error: unknown) => {
    if (!isAbsent(error)) throw error;
    return [];
  });
  for (const group of new Set([...backendGroups, ...former])) await removeRules(cloud, group, mark);
  await cloud.core.deleteGroup(id);
  cloud.unsettled.deleted(id);
}
