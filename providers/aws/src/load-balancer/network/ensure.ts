// Makes a network load balancer, or brings one in line (cloud-provider-aws aws_loadbalancer.go, ensureLoadBalancerv2). Subnets and scheme are what
// they were when it was made: AWS changes neither.
import {
  CreateLoadBalancerCommand,
  DescribeLoadBalancerAttributesCommand,
  type LoadBalancer,
  type LoadBalancerAttribute,
  ModifyLoadBalancerAttributesCommand,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { LoadBalancerStatus, Node, Service } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import { annotationsOf } from '../../annotations.ts';
import type { Cloud } from '../../cloud.ts';
import { loadBalancerName, networkGroupName } from '../../naming.ts';
import { loadBalancerSubnets, subnetCidrs } from '../../subnets/find.ts';
import { forgettingSubnets } from '../../subnets/network.ts';
import { ownedTags } from '../../tags.ts';
import { targetNodes } from '../target-nodes.ts';
import { checkScheme } from '../validate.ts';
import { describeNetwork, networkStatus, refuseFailed } from './describe.ts';
import { syncListeners } from './listeners.ts';
import { admitToNodes } from './node-rules.ts';
import { type NetworkPlan, networkPlan, subnetMappings } from './plan.ts';
import { networkGroups, syncNetworkGroups } from './security-groups.ts';
import { deleteTargetGroups, ensureTargetGroups, syncTargetGroupAttributes, targetGroupsOf } from './target-groups.ts';

async function create(cloud: Cloud, service: Service, plan: NetworkPlan, groups: readonly string[]): Promise<LoadBalancer> {
  const subnets = await loadBalancerSubnets(cloud, annotationsOf(service));
  const { LoadBalancers = [] } = await cloud.api
    .elbv2(
      new CreateLoadBalancerCommand({
        Name: plan.name,
        Type: 'network',
        ...(plan.internal && { Scheme: 'internal' }),
        SubnetMappings: subnetMappings(subnets, plan),
        ...(groups.length > 0 && { SecurityGroups: [...groups] }),
        Tags: ownedTags(cloud.identity.cluster, plan.tags),
      }),
    )
    .catch(forgettingSubnets(cloud.network))
    .catch(during('error creating load balancer'));
  if (!LoadBalancers[0]) throw new Error(`created load balancer ${plan.name}, but it was not returned`);
  return LoadBalancers[0];
}

/** Attributes that are not as wanted; an absent one is ''. Pure. */
export function attributeChange(
  wanted: Readonly<Record<string, string>>,
  present: readonly LoadBalancerAttribute[] = [],
): LoadBalancerAttribute[] {
  const actual = new Map(present.map(({ Key, Value }) => [Key, Value]));
  return Object.entries(wanted)
    .filter(([key, value]) => (actual.get(key) ?? '') !== value)
    .map(([Key, Value]) => ({ Key, Value }));
}

async function syncAttributes({ api }: Cloud, LoadBalancerArn: string, { attributes }: NetworkPlan): Promise<void> {
  const { Attributes } = await api
    .elbv2(new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn }))
    .catch(during('unable to retrieve load balancer attributes during attribute sync'));
  const change = attributeChange(attributes, Attributes);
  if (change.length > 0)
    await api
      .elbv2(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes: change }))
      .catch(during('unable to update load balancer attributes during attribute sync'));
}

/** Listeners, and target groups with these instances. Target groups are made before what points to them, and deleted after. */
async function syncPorts(
  cloud: Cloud,
  service: Service,
  loadBalancer: LoadBalancer,
  plan: NetworkPlan,
  instanceIds: readonly string[],
): Promise<void> {
  const { LoadBalancerArn: arn = '', VpcId: vpcId = cloud.identity.vpcId } = loadBalancer;
  const { attached, loose } = await targetGroupsOf(cloud, service, arn);
  const arns = await ensureTargetGroups(cloud, vpcId, plan, attached, instanceIds);
  await syncListeners(cloud, arn, plan, arns);
  const wanted = new Set(arns.values());
  await deleteTargetGroups(
    cloud,
    [...attached, ...loose].flatMap(({ TargetGroupArn }) =>
      TargetGroupArn && !wanted.has(TargetGroupArn) ? [TargetGroupArn] : [],
    ),
  );
  await syncTargetGroupAttributes(cloud, wanted, plan.targetGroupAttributes);
}

async function ensure(
  cloud: Cloud,
  cluster: string,
  service: Service,
  nodes: readonly Node[],
  present: LoadBalancer | undefined,
): Promise<LoadBalancerStatus> {
  const plan = networkPlan(service, cloud.config.Global, cloud.identity.cluster.id);
  const instances = await cloud.backends.of(targetNodes(service, nodes));
  const groups = await networkGroups(cloud, cluster, service, plan, present);
  const loadBalancer = present ?? (await create(cloud, service, plan, groups));
  if (present) await syncNetworkGroups(cloud, present, groups, networkGroupName(cluster, service));
  await syncPorts(cloud, service, loadBalancer, plan, [...instances.keys()]).catch((error: unknown) => {
    cloud.targetGroups.forget();
    throw error;
  });
  await syncAttributes(cloud, loadBalancer.LoadBalancerArn ?? '', plan);

  const subnets = (loadBalancer.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []);
  if (subnets.length === 0) throw new Error(`did not find ensured subnets on LB ${plan.name}`);
  await admitToNodes(cloud, plan.name, instances.values(), {
    mappings: plan.mappings,
    clients: plan.sourceRanges,
    subnets: await subnetCidrs(cloud, subnets),
  });
  refuseFailed(loadBalancer);
  return networkStatus(loadBalancer);
}

export async function ensureNetwork(
  cloud: Cloud,
  cluster: string,
  service: Service,
  nodes: readonly Node[],
): Promise<LoadBalancerStatus> {
  const name = loadBalancerName(service);
  const present = await describeNetwork(cloud, name);
  const status = await ensure(cloud, cluster, service, nodes, present);
  if (present) checkScheme(service, { name, scheme: present.Scheme });
  return status;
}

/** All of it, as upstream: targets are in groups that may have to be replaced. Throws when there is no load balancer. */
export async function updateNetwork(cloud: Cloud, cluster: string, service: Service, nodes: readonly Node[]): Promise<void> {
  const present = await describeNetwork(cloud, loadBalancerName(service));
  if (!present) throw new Error('Load balancer not found');
  await ensure(cloud, cluster, service, nodes, present);
}
