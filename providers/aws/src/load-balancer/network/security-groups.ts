// Security groups in front of a network load balancer: none, unless the configuration says `NLBSecurityGroupMode = Managed`. AWS gives none to one
// that was made without, so such a one stays as it is.
import { type LoadBalancer, SetSecurityGroupsCommand } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Service } from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../../cloud.ts';
import { networkGroupName } from '../../naming.ts';
import { ensureGroup, setRules } from '../../security-groups/groups.ts';
import { removeReplacedGroup } from '../../security-groups/replaced.ts';
import { frontRules } from '../../security-groups/rules.ts';
import type { NetworkPlan } from './plan.ts';

/** The groups it shall have; those of the user keep their rules. */
export async function networkGroups(
  cloud: Cloud,
  cluster: string,
  service: Service,
  plan: NetworkPlan,
  present: LoadBalancer | undefined,
): Promise<string[]> {
  const now = present?.SecurityGroups ?? [];
  if (cloud.config.Global.NLBSecurityGroupMode !== 'Managed' || (present && now.length === 0)) return now;
  if (plan.givenGroups.length > 0) return plan.givenGroups;
  const id = await ensureGroup(cloud, {
    name: networkGroupName(cluster, service),
    description: '[k8s] Managed SecurityGroup for LoadBalancer',
    tags: plan.userTags,
  });
  const ports = plan.mappings.map(({ port, protocol }) => ({ port, protocol: protocol === 'UDP' ? 'udp' : 'tcp' }));
  await setRules(cloud, id, frontRules(ports, plan.sourceRanges)).catch(during('error ensuring NLB security group rules'));
  return [id];
}

/** Whether anything changed. `made`: the name of the group that is made for it. A replaced group that cannot be deleted now holds nothing up. */
export async function syncNetworkGroups(
  cloud: Cloud,
  present: LoadBalancer,
  wanted: readonly string[],
  made: string,
): Promise<boolean> {
  const now = present.SecurityGroups ?? [];
  const replaced = now.filter((id) => !wanted.includes(id));
  if (wanted.length === 0 || (replaced.length === 0 && wanted.every((id) => now.includes(id)))) return false;
  await cloud.api
    .elbv2(new SetSecurityGroupsCommand({ LoadBalancerArn: present.LoadBalancerArn, SecurityGroups: [...wanted] }))
    .catch(during('error setting security groups on load balancer'));
  await removeReplacedGroup(cloud, present.LoadBalancerName ?? '', made, replaced).catch((error: unknown) =>
    cloud.logger.warn('detached security groups are left', { groups: replaced, error: textOf(error) }),
  );
  return true;
}
