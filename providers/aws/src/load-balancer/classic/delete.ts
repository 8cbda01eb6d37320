// Deletes a classic load balancer and what was made for it; also what is left when only that is there.
import { DeleteLoadBalancerCommand } from '@aws-sdk/client-elastic-load-balancing';
import type { SecurityGroup } from '@aws-sdk/client-ec2';
import type { LoadBalancerStatus, Service } from 'sagong/cloud-provider';
import type { Cloud } from '../../cloud.ts';
import { during } from '../../errors.ts';
import { classicGroupName } from '../../naming.ts';
import { deleteGroups, groupsById, ownGroupByName, revokeAdmission } from '../../security-groups/groups.ts';
import { type ClusterTags, inCluster } from '../../tags.ts';
import { classicStatus, describeClassic, isGroupUsedByOthers } from './describe.ts';
import { frontGroup, groupsOf } from './plan.ts';

/** Groups that go with a load balancer: the cluster's, but none that the Service or the configuration names. Pure. */
export const groupsToDelete = (present: readonly SecurityGroup[], named: readonly string[], cluster: ClusterTags): string[] =>
  present.flatMap(({ GroupId, Tags }) => (GroupId && inCluster(cluster, Tags) && !named.includes(GroupId) ? [GroupId] : []));

/** The state of the load balancer, or an empty one while its security group is left; undefined: nothing is there. */
export async function classicState(cloud: Cloud, name: string): Promise<LoadBalancerStatus | undefined> {
  const found = await describeClassic(cloud, name);
  if (found) return classicStatus(found);
  return (await ownGroupByName(cloud, classicGroupName(name))) === undefined ? undefined : {};
}

/** The rules by which nodes let in a group that stays, unless another load balancer needs them. */
async function closeNodes(cloud: Cloud, front: string, name: string): Promise<void> {
  if (cloud.config.Global.DisableSecurityGroupIngress || (await isGroupUsedByOthers(cloud, front, name))) return;
  await revokeAdmission(
    cloud,
    front,
    ({ GroupId, Tags }) => inCluster(cloud.identity.cluster, Tags) && GroupId !== cloud.config.Global.ElbSecurityGroup,
  );
}

export async function deleteClassic(cloud: Cloud, name: string, service: Service): Promise<void> {
  const found = await describeClassic(cloud, name);
  const { ElbSecurityGroup } = cloud.config.Global;
  const { given, extra } = groupsOf(service, cloud.config.Global);
  const named = [...given, ...extra, ...(ElbSecurityGroup === undefined ? [] : [ElbSecurityGroup])];
  const present = await groupsById(cloud, found?.SecurityGroups ?? []);
  const managed = await ownGroupByName(cloud, classicGroupName(name));
  const doomed = new Set([...groupsToDelete(present, named, cloud.identity.cluster), ...(managed ? [managed] : [])]);

  for (const id of doomed) await revokeAdmission(cloud, id);
  if (found) {
    const tagged = new Set(
      present.flatMap(({ GroupId = '', Tags }) => (inCluster(cloud.identity.cluster, Tags) ? [GroupId] : [])),
    );
    const front = frontGroup(found.SecurityGroups ?? [], { given, extra }, (id) => tagged.has(id));
    if (front !== undefined && !doomed.has(front)) await closeNodes(cloud, front, name);
    await cloud.api
      .elb(new DeleteLoadBalancerCommand({ LoadBalancerName: name }))
      .catch(during(`error deleting load balancer ${name}`));
  }
  await deleteGroups(cloud, name, [...doomed]);
}
