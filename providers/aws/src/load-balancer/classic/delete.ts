// Deletes a classic load balancer and what was made for it; also what is left when only that is there.
import { DeleteLoadBalancerCommand } from '@aws-sdk/client-elastic-load-balancing';
import type { LoadBalancerStatus, Service } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../../cloud.ts';
import { classicGroupName } from '../../naming.ts';
import { deleteGroups, groupsById, ownGroupByName, revokeAdmission } from '../../security-groups/groups.ts';
import { inCluster } from '../../tags.ts';
import { classicStatus, describeClassic } from './describe.ts';
import { closeNodes } from './node-rules.ts';
import { frontGroup, groupsOf } from './plan.ts';

/** The state of the load balancer, or an empty one while its security group is left; undefined: nothing is there. */
export async function classicState(cloud: Cloud, name: string): Promise<LoadBalancerStatus | undefined> {
  const found = await describeClassic(cloud, name);
  if (found) return classicStatus(found);
  return (await ownGroupByName(cloud, classicGroupName(name))) === undefined ? undefined : {};
}

export async function deleteClassic(cloud: Cloud, name: string, service: Service): Promise<void> {
  const found = await describeClassic(cloud, name);
  const { ElbSecurityGroup } = cloud.config.Global;
  const { given, extra } = groupsOf(service, cloud.config.Global);
  const named = [...given, ...extra, ...(ElbSecurityGroup === undefined ? [] : [ElbSecurityGroup])];
  const present = await groupsById(cloud, found?.SecurityGroups ?? []);
  const made = await ownGroupByName(cloud, classicGroupName(name));
  const doomed = made === undefined || named.includes(made) ? [] : [made];

  for (const id of doomed) await revokeAdmission(cloud, id);
  if (found) {
    const tagged = new Set(
      present.flatMap(({ GroupId = '', Tags }) => (inCluster(cloud.identity.cluster, Tags) ? [GroupId] : [])),
    );
    const front = frontGroup(found.SecurityGroups ?? [], { given, extra }, (id) => tagged.has(id));
    if (front !== undefined && !doomed.includes(front)) await closeNodes(cloud, front, name);
    await cloud.api
      .elb(new DeleteLoadBalancerCommand({ LoadBalancerName: name }))
      .catch(during(`error deleting load balancer ${name}`));
  }
  await deleteGroups(cloud, name, doomed);
}
