// Lets a classic load balancer in to the nodes: one rule in each node group, for all protocols, from the group of the load balancer.
import type { Instance, SecurityGroup } from '@aws-sdk/client-ec2';
import type { Cloud } from '../../cloud.ts';
import { changeRules, clusterGroups, groupsThatAdmit } from '../../security-groups/groups.ts';
import { nodeGroups } from '../../security-groups/node-group.ts';
import { type Rule, rulesIn } from '../../security-groups/rules.ts';
import { inCluster } from '../../tags.ts';
import { isGroupUsedByOthers } from './describe.ts';
import { type ClassicGroups, frontGroup } from './plan.ts';

const admission = (front: string): Rule => ({ protocol: '-1', source: { group: front } });

/**
 * Groups to open and to close. Groups that are not the cluster's keep what somebody put there, and so does a group that stands in front itself: by its
 * rule for itself its members reach each other. Pure.
 */
export function admissionChange(
  wanted: ReadonlySet<string>,
  admitting: readonly SecurityGroup[],
  front: string,
  isTagged: (group: SecurityGroup) => boolean,
): { open: string[]; close: string[] } {
  const open = admitting.filter(({ IpPermissions }) =>
    rulesIn(IpPermissions).some(({ protocol, source }) => protocol === '-1' && 'group' in source && source.group === front),
  );
  const now = new Set(open.map(({ GroupId = '' }) => GroupId));
  return {
    open: [...wanted].filter((id) => !now.has(id)),
    close: open
      .filter((group) => !wanted.has(group.GroupId ?? '') && group.GroupId !== front && isTagged(group))
      .map(({ GroupId = '' }) => GroupId),
  };
}

/** Exactly the groups of these instances let the load balancer in. */
export async function admitToNodes(
  cloud: Cloud,
  present: readonly string[],
  groups: Pick<ClassicGroups, 'given' | 'extra'>,
  instances: Iterable<Instance>,
): Promise<void> {
  if (cloud.config.Global.DisableSecurityGroupIngress) return;
  const nodes = [...instances];
  const asked = [
    ...present,
    ...nodes.flatMap(({ SecurityGroups = [] }) => SecurityGroups.flatMap(({ GroupId }) => GroupId ?? [])),
  ];
  const tagged = await clusterGroups(cloud, new Set(asked));
  const front = frontGroup(present, groups, (id) => tagged.has(id));
  if (front === undefined) throw new Error('could not determine security group for load balancer');
  const wanted = nodeGroups(nodes, (id) => tagged.has(id));
  await admitOnly(cloud, front, wanted);
}

/** Nodes no longer let in a group that stays, unless another load balancer needs that. */
export async function closeNodes(cloud: Cloud, front: string, loadBalancer: string): Promise<void> {
  if (cloud.config.Global.DisableSecurityGroupIngress || (await isGroupUsedByOthers(cloud, front, loadBalancer))) return;
  await admitOnly(cloud, front, new Set());
}

async function admitOnly(cloud: Cloud, front: string, wanted: ReadonlySet<string>): Promise<void> {
  const isTagged = ({ Tags }: SecurityGroup): boolean => inCluster(cloud.identity.cluster, Tags);
  const { open, close } = admissionChange(wanted, await groupsThatAdmit(cloud, front), front, isTagged);
  // The group of the configuration is the user's: its rules are left alone.
  const ours = (id: string): boolean => id !== cloud.config.Global.ElbSecurityGroup;
  for (const id of open.filter(ours)) await changeRules(cloud, id, { add: [admission(front)], remove: [] });
  for (const id of close.filter(ours)) await changeRules(cloud, id, { add: [], remove: [admission(front)] });
}
