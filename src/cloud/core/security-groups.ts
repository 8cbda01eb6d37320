// Security groups. Rules are a set: one that is there already is not added again.
import { deepEqual } from '#utils';
import { conflicting, inUse, invalid, notFound } from '../api/errors.ts';
import type { SecurityGroup, SecurityGroupRule, World } from '../model/index.ts';
import type { Change, Changes } from './command.ts';
import type { Context } from './context.ts';
import { itemsOf, newResource, own, put, remove, visible, withinQuota } from './world.ts';

type Direction = 'ingress' | 'egress';

function checkRule(
  world: World,
  context: Context,
  { vpcId }: SecurityGroup,
  rule: SecurityGroupRule,
  field: string,
): SecurityGroupRule {
  const { protocol, fromPort, toPort = fromPort, cidr, groupId } = rule;
  if ((cidr === undefined) === (groupId === undefined)) throw invalid(field, 'needs exactly one of cidr and groupId');
  if (fromPort !== undefined && protocol !== 'tcp' && protocol !== 'udp')
    throw invalid(`${field}.fromPort`, `${protocol} has no ports`);
  if (toPort !== undefined && (fromPort === undefined || toPort < fromPort))
    throw invalid(`${field}.toPort`, 'is not a port at or after fromPort');
  if (groupId !== undefined && visible(world, context, 'securityGroups', groupId).vpcId !== vpcId)
    throw invalid(`${field}.groupId`, `${groupId} is in another VPC`);
  return { ...rule, ...(toPort !== undefined && { toPort }) };
}

/** The description is no part of what a rule is. */
const same = ({ description: _, ...a }: SecurityGroupRule, { description: __, ...b }: SecurityGroupRule): boolean =>
  deepEqual(a, b);

const authorize =
  (direction: Direction): Change<'authorizeSecurityGroupIngress'> =>
  (world, { securityGroupId, rules }, context) => {
    const group = own(world, context, 'securityGroups', securityGroupId);
    const all = [...group[direction]];
    for (const [index, given] of rules.entries()) {
      const rule = checkRule(world, context, group, given, `rules.${index}`);
      if (!all.some((known) => same(known, rule))) all.push(rule);
    }
    withinQuota(all.length - 1, context.settings.quotas.rulesPerSecurityGroup, 'rules in one direction of a security group');
    const changed = { ...group, [direction]: all };
    return { world: put(world, 'securityGroups', changed), result: changed };
  };

const revoke =
  (direction: Direction): Change<'revokeSecurityGroupIngress'> =>
  (world, { securityGroupId, rules }, context) => {
    const group = own(world, context, 'securityGroups', securityGroupId);
    const gone = rules.map((rule) =>
      rule.fromPort !== undefined && rule.toPort === undefined ? { ...rule, toPort: rule.fromPort } : rule,
    );
    const missing = gone.find((rule) => !group[direction].some((known) => same(known, rule)));
    if (missing) throw notFound('SecurityGroupRule', JSON.stringify(missing));
    const changed = { ...group, [direction]: group[direction].filter((known) => !gone.some((rule) => same(known, rule))) };
    return { world: put(world, 'securityGroups', changed), result: changed };
  };

export const securityGroupChanges: Changes<
  | 'createSecurityGroup'
  | 'deleteSecurityGroup'
  | 'authorizeSecurityGroupIngress'
  | 'revokeSecurityGroupIngress'
  | 'authorizeSecurityGroupEgress'
  | 'revokeSecurityGroupEgress'
> = {
  createSecurityGroup(world, { vpcId, name, description, tags }, context) {
    own(world, context, 'vpcs', vpcId);
    const others = itemsOf(world, 'securityGroups').filter((group) => group.vpcId === vpcId);
    withinQuota(others.length, context.settings.quotas.securityGroupsPerVpc, 'security groups in a VPC');
    const twin = others.find((group) => group.name === name);
    if (twin) throw conflicting('SecurityGroupAlreadyExists', `${twin.id} has this name in the VPC`);
    const group: SecurityGroup = {
      ...newResource(world, 'securityGroups', context, tags),
      vpcId,
      name,
      description,
      ingress: [],
      egress: [{ protocol: 'all', cidr: '0.0.0.0/0' }],
    };
    return { world: put(world, 'securityGroups', group), result: group };
  },
  deleteSecurityGroup(world, { securityGroupId }, context) {
    const { id, name } = own(world, context, 'securityGroups', securityGroupId);
    if (name === 'default') throw inUse(`${id} is the default group of its VPC`);
    const names = ({ ingress, egress }: SecurityGroup): boolean => [...ingress, ...egress].some(({ groupId }) => groupId === id);
    const user =
      itemsOf(world, 'interfaces').find(({ securityGroupIds }) => securityGroupIds.includes(id)) ??
      itemsOf(world, 'securityGroups').find((group) => group.id !== id && names(group));
    if (user) throw inUse(`${user.id} uses ${id}`);
    return { world: remove(world, 'securityGroups', id), result: undefined };
  },
  authorizeSecurityGroupIngress: authorize('ingress'),
  revokeSecurityGroupIngress: revoke('ingress'),
  authorizeSecurityGroupEgress: authorize('egress'),
  revokeSecurityGroupEgress: revoke('egress'),
};
