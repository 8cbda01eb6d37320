// Security groups. They are the local cloud's; that load balancers have them, too, only the emulator knows.
import type { SecurityGroup, SecurityGroupRule } from '../../../model/index.ts';
import { accountId, type Account, type Action, type Actions, tagItems } from '../account.ts';
import { AwsError, unsupported } from '../errors.ts';
import { projectAll } from '../projection.ts';
import { filtered, type FilterFields } from '../pages.ts';
import { type Parameters, tagsIn } from '../parameters.ts';
import type { Xml } from '../xml.ts';
import { paged } from './networks.ts';
import { permissionsXml, rulesIn, sameIcmp, sameRule } from './permissions.ts';
import { allGroups } from './world.ts';

const groupXml = ({ id, name, description, vpcId, ingress, egress, tags }: SecurityGroup): Xml => ({
  ownerId: accountId,
  groupId: id,
  groupName: name,
  groupDescription: description,
  vpcId,
  ipPermissions: permissionsXml(ingress),
  ipPermissionsEgress: permissionsXml(egress),
  tagSet: tagItems(tags),
});

const fields: FilterFields<SecurityGroup> = {
  'group-id': ({ id }) => [id],
  'group-name': ({ name }) => [name],
  'vpc-id': ({ vpcId }) => [vpcId],
  description: ({ description }) => [description],
  'owner-id': () => [accountId],
  'ip-permission.group-id': ({ ingress }) => ingress.map(({ groupId }) => groupId),
  'ip-permission.cidr': ({ ingress }) => ingress.map(({ cidr }) => cidr),
  'ip-permission.protocol': ({ ingress }) => ingress.map(({ protocol }) => (protocol === 'all' ? '-1' : protocol)),
};

const describe: Action = async (account, parameters) => {
  const all = await allGroups(account);
  const ids = parameters.list('GroupId');
  const unknown = ids.find((id) => !all.some((group) => group.id === id));
  if (unknown !== undefined) throw noGroup(unknown);
  const names = parameters.list('GroupName');
  const found = all.filter(
    ({ id, name }) => (ids.length === 0 || ids.includes(id)) && (names.length === 0 || names.includes(name)),
  );
  const { items, next } = paged(filtered(found, parameters, fields), parameters);
  return { securityGroupInfo: items.map(groupXml), nextToken: next };
};

const noGroup = (id: string): AwsError => new AwsError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);

/** Tags that a request gives to what it makes. */
function newTags(parameters: Parameters, kind: string): Record<string, string> {
  const specifications = parameters.parts('TagSpecification').filter((each) => each.get('ResourceType') === kind);
  return Object.assign({}, ...specifications.map((each) => tagsIn(each, 'Tag'))) as Record<string, string>;
}

const create: Action = async ({ cloud }, parameters) => {
  const tags = newTags(parameters, 'security-group');
  const { id } = await cloud.createSecurityGroup({
    vpcId: parameters.need('VpcId'),
    name: parameters.need('GroupName'),
    description: parameters.need('GroupDescription'),
    tags,
  });
  return { return: true, groupId: id, tagSet: tagItems(tags) };
};

const remove: Action = (account, parameters) =>
  account.facts.change(async ({ classic, network }) => {
    const id = parameters.need('GroupId');
    const user = [...Object.values(classic), ...Object.values(network)].find(({ securityGroups }) => securityGroups.includes(id));
    if (user) throw new AwsError('DependencyViolation', `resource ${id} has a dependent object`);
    await account.cloud.deleteSecurityGroup({ securityGroupId: id });
    return { return: true, groupId: id };
  });

async function groupOf({ cloud }: Account, parameters: Parameters): Promise<SecurityGroup> {
  if (parameters.get('GroupId') === undefined && parameters.get('GroupName') !== undefined)
    throw unsupported('naming a group of a VPC by its name');
  return cloud.getSecurityGroup({ securityGroupId: parameters.need('GroupId') });
}

type Direction = 'ingress' | 'egress';

/** All of the rules or none: one that is there already refuses them all. */
const authorize =
  (direction: Direction): Action =>
  (account, parameters) =>
    account.facts.change(async (facts) => {
      const group = await groupOf(account, parameters);
      const rules = rulesIn(parameters);
      for (const rule of rules) checkNew(group[direction], rule);
      const input = { securityGroupId: group.id, rules };
      if (direction === 'egress') await account.cloud.authorizeSecurityGroupEgress(input);
      else {
        await account.cloud.authorizeSecurityGroupIngress(input);
        await projectAll(account, facts);
      }
      return { return: true };
    });

function checkNew(present: readonly SecurityGroupRule[], rule: SecurityGroupRule): void {
  const twin = present.find((known) => sameRule(known, rule));
  if (!twin) return;
  if (!sameIcmp(twin, rule)) throw unsupported('two types of ICMP from one source');
  const source = rule.cidr ?? rule.groupId;
  throw new AwsError(
    'InvalidPermission.Duplicate',
    `the specified rule "peer: ${source}, ${rule.protocol.toUpperCase()}, from port: ${rule.fromPort ?? -1}, to port: ${rule.toPort ?? -1}, ALLOW" already exists`,
  );
}

const revoke =
  (direction: Direction): Action =>
  (account, parameters) =>
    account.facts.change(async (facts) => {
      const group = await groupOf(account, parameters);
      const gone = rulesIn(parameters).map((rule) => {
        const known = group[direction].find((each) => sameRule(each, rule) && sameIcmp(each, rule));
        if (!known) throw new AwsError('InvalidPermission.NotFound', 'The specified rule does not exist in this security group.');
        return known;
      });
      const input = { securityGroupId: group.id, rules: gone };
      if (direction === 'egress') await account.cloud.revokeSecurityGroupEgress(input);
      else {
        await account.cloud.revokeSecurityGroupIngress(input);
        await projectAll(account, facts);
      }
      return { return: true };
    });

export const securityGroupActions: Actions = {
  DescribeSecurityGroups: describe,
  CreateSecurityGroup: create,
  DeleteSecurityGroup: remove,
  AuthorizeSecurityGroupIngress: authorize('ingress'),
  RevokeSecurityGroupIngress: revoke('ingress'),
  AuthorizeSecurityGroupEgress: authorize('egress'),
  RevokeSecurityGroupEgress: revoke('egress'),
};
