// Deletes a network load balancer and what was made for it; also what is left when only that is there.
import { DeleteLoadBalancerCommand } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { LoadBalancerStatus, Service } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import { annotation, annotationsOf, listIn } from '../../annotations.ts';
import type { Cloud } from '../../cloud.ts';
import { loadBalancerName, networkGroupName } from '../../naming.ts';
import { deleteGroups, ownGroupByName } from '../../security-groups/groups.ts';
import { describeNetwork, networkStatus } from './describe.ts';
import { admitToNodes, hasNodeRules, nobody } from './node-rules.ts';
import { attachedTargetGroups, deleteTargetGroups, looseTargetGroups } from './target-groups.ts';

/** The state of the load balancer, or an empty one while pieces of it are left; undefined: nothing is there. */
export async function networkState(cloud: Cloud, cluster: string, service: Service): Promise<LoadBalancerStatus | undefined> {
  const name = loadBalancerName(service);
  const found = await describeNetwork(cloud, name);
  if (found) return networkStatus(found);
  const left =
    (await looseTargetGroups(cloud, service)).length > 0 ||
    (await ownGroupByName(cloud, networkGroupName(cluster, service))) !== undefined ||
    (await hasNodeRules(cloud, name));
  return left ? {} : undefined;
}

/** The group that was made for it, unless somebody named it since. */
async function madeGroups(cloud: Cloud, cluster: string, service: Service): Promise<string[]> {
  const named = [...listIn(annotationsOf(service)[annotation.securityGroups]), cloud.config.Global.ElbSecurityGroup];
  const made = await ownGroupByName(cloud, networkGroupName(cluster, service));
  return made === undefined || named.includes(made) ? [] : [made];
}

export async function deleteNetwork(cloud: Cloud, cluster: string, service: Service): Promise<void> {
  const name = loadBalancerName(service);
  const found = await describeNetwork(cloud, name);
  const attached = found?.LoadBalancerArn ? await attachedTargetGroups(cloud, found.LoadBalancerArn) : [];
  const groups = await madeGroups(cloud, cluster, service);
  if (found)
    await cloud.api
      .elbv2(new DeleteLoadBalancerCommand({ LoadBalancerArn: found.LoadBalancerArn }))
      .catch(during(`error deleting load balancer "${name}"`));
  const loose = await looseTargetGroups(cloud, service);
  const arns = [...attached, ...loose].flatMap(({ TargetGroupArn }) => TargetGroupArn ?? []);
  await deleteTargetGroups(cloud, new Set(arns));
  await admitToNodes(cloud, name, [], nobody).catch(during('error deleting instance security group rules'));
  await deleteGroups(cloud, name, groups);
}
