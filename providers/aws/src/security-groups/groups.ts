// Security groups: finding, making, changing their rules, deleting. Changes made by somebody else in the same moment are no failure.
import { during } from 'sagong/cloud-provider/kit';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  type Filter,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroup,
} from '@aws-sdk/client-ec2';
import { pages } from '../clients.ts';
import { type Cloud, sleep } from '../cloud.ts';
import { absentFor, hasCode } from '../errors.ts';
import { groupCreatePeriodMs, groupCreateTries, groupDeleteMaxMs, groupDeletePeriodMs, pageItems, pagesMax } from '../limits.ts';
import { inCluster, missingTags, ownedByCluster, ownedTags } from '../tags.ts';
import { permissionsOf, type Rule, rulesIn, without } from './rules.ts';

const describe = ({ api }: Cloud, Filters: Filter[]): Promise<SecurityGroup[]> =>
  pages(
    (NextToken) =>
      api.ec2(
        new DescribeSecurityGroupsCommand({ Filters, MaxResults: pageItems, ...(NextToken !== undefined && { NextToken }) }),
      ),
    ({ SecurityGroups }) => SecurityGroups,
    ({ NextToken }) => NextToken,
    pagesMax,
  ).catch(during('error querying security groups'));

/** The security groups of these ids that exist. */
export const groupsById = async (cloud: Cloud, ids: readonly string[]): Promise<SecurityGroup[]> =>
  ids.length === 0 ? [] : describe(cloud, [{ Name: 'group-id', Values: [...ids] }]);

/** All of the network that carry the tag of the cluster, or those of them that are `among` these, by id. */
export async function clusterGroups(cloud: Cloud, among?: ReadonlySet<string>): Promise<Map<string, SecurityGroup>> {
  const found = among
    ? await groupsById(cloud, [...among])
    : await describe(cloud, [{ Name: 'vpc-id', Values: [cloud.identity.vpcId] }]);
  const tagged = found.filter(({ Tags }) => inCluster(cloud.identity.cluster, Tags));
  return new Map(tagged.map((group) => [group.GroupId ?? '', group]));
}

/** The security groups with a rule that lets this group in. */
export const groupsThatAdmit = (cloud: Cloud, id: string): Promise<SecurityGroup[]> =>
  describe(cloud, [{ Name: 'ip-permission.group-id', Values: [id] }]);

export async function groupByName(cloud: Cloud, name: string): Promise<SecurityGroup | undefined> {
  const found = await describe(cloud, [
    { Name: 'group-name', Values: [name] },
    { Name: 'vpc-id', Values: [cloud.identity.vpcId] },
  ]);
  return found[0];
}

/** The one of this name if it was made for the cluster, and so may be deleted. */
export async function ownGroupByName(cloud: Cloud, name: string): Promise<string | undefined> {
  const found = await groupByName(cloud, name);
  return found && ownedByCluster(cloud.identity.cluster, found.Tags) ? found.GroupId : undefined;
}

async function adopt(cloud: Cloud, { GroupId = '', Tags }: SecurityGroup): Promise<string> {
  const missing = missingTags(GroupId, ownedTags(cloud.identity.cluster), Tags);
  if (missing.length > 0)
    await cloud.api
      .ec2(new CreateTagsCommand({ Resources: [GroupId], Tags: missing }))
      .catch(during(`error adding missing tags to resource ${GroupId}`));
  return GroupId;
}

/** Finds or makes it; its id. Another process may do the same at the same time. */
export async function ensureGroup(
  cloud: Cloud,
  { name, description, tags }: { name: string; description: string; tags: Record<string, string> },
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const found = await groupByName(cloud, name);
    if (found) return adopt(cloud, found);
    try {
      const Tags = ownedTags(cloud.identity.cluster, tags);
      const { GroupId } = await cloud.api.ec2(
        new CreateSecurityGroupCommand({
          VpcId: cloud.identity.vpcId,
          GroupName: name,
          Description: description,
          TagSpecifications: [{ ResourceType: 'security-group', Tags }],
        }),
      );
      if (!GroupId) throw new Error(`created security group, but id was not returned: ${name}`);
      return GroupId;
    } catch (error) {
      if (!hasCode(error, 'InvalidGroup.Duplicate') || attempt === groupCreateTries)
        return during(`error creating security group ${name}`)(error);
      await sleep(cloud, groupCreatePeriodMs);
    }
  }
}

async function authorize({ api }: Cloud, id: string, rules: readonly Rule[]): Promise<void> {
  await api
    .ec2(new AuthorizeSecurityGroupIngressCommand({ GroupId: id, IpPermissions: permissionsOf(rules) }))
    .catch(async (error: unknown) => {
      // One of them was there already, and AWS took none: then one by one.
      if (!hasCode(error, 'InvalidPermission.Duplicate')) throw error;
      if (rules.length === 1) return;
      for (const rule of rules)
        await api
          .ec2(new AuthorizeSecurityGroupIngressCommand({ GroupId: id, IpPermissions: permissionsOf([rule]) }))
          .catch(absentFor('InvalidPermission.Duplicate'));
    })
    .catch(during(`error authorizing security group ingress of ${id}`));
}

async function revoke({ api }: Cloud, id: string, rules: readonly Rule[]): Promise<void> {
  await api
    .ec2(new RevokeSecurityGroupIngressCommand({ GroupId: id, IpPermissions: permissionsOf(rules) }))
    .catch(absentFor('InvalidPermission.NotFound', 'InvalidGroup.NotFound'))
    .catch(during(`error revoking security group ingress of ${id}`));
}

export interface RuleChange {
  add: readonly Rule[];
  remove: readonly Rule[];
}

/** New rules before old ones go, so that no packet that is allowed before and after is refused in between. */
export async function changeRules(cloud: Cloud, id: string, { add, remove }: RuleChange): Promise<void> {
  if (add.length > 0) await authorize(cloud, id, add);
  if (remove.length > 0) await revoke(cloud, id, remove);
}

/** Makes the rules of a group exactly these. */
export async function setRules(cloud: Cloud, id: string, wanted: readonly Rule[]): Promise<void> {
  const [group] = await groupsById(cloud, [id]);
  if (!group) throw new Error(`security group not found: ${id}`);
  const actual = rulesIn(group.IpPermissions);
  await changeRules(cloud, id, { add: without(wanted, actual), remove: without(actual, wanted) });
}

const admits = (id: string) => (rule: Rule) => 'group' in rule.source && rule.source.group === id;

/** Takes back every rule that lets this group in: while there is one, it cannot be deleted. For groups that go, not for others. */
export async function revokeAdmission(cloud: Cloud, id: string): Promise<void> {
  for (const group of await groupsThatAdmit(cloud, id)) {
    const remove = rulesIn(group.IpPermissions).filter(admits(id));
    await changeRules(cloud, group.GroupId ?? '', { add: [], remove });
  }
}

/** Waits until nothing uses the groups any more: a load balancer lets go of them a while after it was deleted. */
export async function deleteGroups(cloud: Cloud, loadBalancer: string, ids: readonly string[]): Promise<void> {
  const until = cloud.clock.monotonic() + groupDeleteMaxMs;
  let left = [...ids];
  for (;;) {
    const busy: string[] = [];
    for (const GroupId of left)
      await cloud.api.ec2(new DeleteSecurityGroupCommand({ GroupId })).catch((error: unknown) => {
        if (hasCode(error, 'DependencyViolation')) busy.push(GroupId);
        else if (!hasCode(error, 'InvalidGroup.NotFound'))
          during(`error while deleting load balancer security group (${GroupId})`)(error);
      });
    left = busy;
    if (left.length === 0) return;
    if (cloud.clock.monotonic() + groupDeletePeriodMs > until)
      throw new Error(`could not delete security groups ${left.join(',')} for Load Balancer "${loadBalancer}": still in use`);
    await sleep(cloud, groupDeletePeriodMs);
  }
}
