// Makes a classic load balancer, or brings one in line (cloud-provider-aws aws_loadbalancer.go, ensureLoadBalancer). The order is: what it stands
// on, itself, its attributes, its health check, the way to the nodes, the nodes.
import {
  AddTagsCommand,
  ApplySecurityGroupsToLoadBalancerCommand,
  AttachLoadBalancerToSubnetsCommand,
  ConfigureHealthCheckCommand,
  CreateLoadBalancerCommand,
  CreateLoadBalancerListenersCommand,
  DeleteLoadBalancerListenersCommand,
  DeregisterInstancesFromLoadBalancerCommand,
  DescribeLoadBalancerAttributesCommand,
  DetachLoadBalancerFromSubnetsCommand,
  type LoadBalancerDescription,
  ModifyLoadBalancerAttributesCommand,
  RegisterInstancesWithLoadBalancerCommand,
} from '@aws-sdk/client-elastic-load-balancing';
import type { LoadBalancerStatus, Node, Service } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import { annotation, annotationsOf } from '../../annotations.ts';
import type { Cloud } from '../../cloud.ts';
import { isUnknownBackend } from '../../errors.ts';
import { ensureGroup, ownGroupByName, setRules } from '../../security-groups/groups.ts';
import { removeReplacedGroup } from '../../security-groups/replaced.ts';
import { loadBalancerSubnets } from '../../subnets/find.ts';
import { forgettingSubnets } from '../../subnets/network.ts';
import { ownedTags } from '../../tags.ts';
import { targetNodes } from '../target-nodes.ts';
import { checkScheme, schemeOf } from '../validate.ts';
import { sameAttributes } from './attributes.ts';
import { classicStatus, describeClassic } from './describe.ts';
import { sameHealthCheck } from './health-check.ts';
import { listenerChange } from './listeners.ts';
import { admitToNodes, closeNodes } from './node-rules.ts';
import { type ClassicGroups, type ClassicPlan, classicPlan, groupsOf } from './plan.ts';
import { syncProxyProtocol, syncTlsPolicy } from './policies.ts';

/** The texts of `left` that are not in `right`. */
const missing = (left: readonly string[], right: readonly string[] = []): string[] =>
  left.filter((each) => !right.includes(each));

async function securityGroups(cloud: Cloud, { given, extra, managed }: ClassicGroups): Promise<string[]> {
  if (given.length > 0) return [...given, ...extra];
  const id = await ensureGroup(cloud, managed);
  await setRules(cloud, id, managed.rules);
  return [id, ...extra];
}

async function create(cloud: Cloud, plan: ClassicPlan, subnets: string[], groups: string[]): Promise<void> {
  await cloud.api
    .elb(
      new CreateLoadBalancerCommand({
        LoadBalancerName: plan.name,
        Listeners: plan.listeners,
        Subnets: subnets,
        SecurityGroups: groups,
        ...(plan.internal && { Scheme: 'internal' }),
        Tags: ownedTags(cloud.identity.cluster, plan.tags),
      }),
    )
    .catch(forgettingSubnets(cloud.network))
    .catch(during(`error creating load balancer ${plan.name}`));
}

async function syncSubnets(
  { api, network }: Cloud,
  name: string,
  wanted: readonly string[],
  actual: readonly string[],
): Promise<boolean> {
  const [attach, detach] = [missing(wanted, actual), missing(actual, wanted)];
  if (detach.length > 0)
    await api
      .elb(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName: name, Subnets: detach }))
      .catch(during('error detaching AWS loadbalancer from subnets'));
  if (attach.length > 0)
    await api
      .elb(new AttachLoadBalancerToSubnetsCommand({ LoadBalancerName: name, Subnets: attach }))
      .catch(forgettingSubnets(network))
      .catch(during('error attaching AWS loadbalancer to subnets'));
  return attach.length + detach.length > 0;
}

async function syncGroups(
  cloud: Cloud,
  { name, groups: { managed } }: ClassicPlan,
  wanted: string[],
  actual: readonly string[],
): Promise<boolean> {
  const replaced = missing(actual, wanted);
  if (replaced.length + missing(wanted, actual).length === 0) return false;
  await cloud.api
    .elb(new ApplySecurityGroupsToLoadBalancerCommand({ LoadBalancerName: name, SecurityGroups: wanted }))
    .catch(during('error applying AWS loadbalancer security groups'));
  const made = await ownGroupByName(cloud, managed.name);
  // While the group that was made was there, it stood in front: nodes let in no other for this load balancer.
  const wereInFront = made !== undefined && actual.includes(made) ? [] : replaced;
  for (const id of wereInFront) await closeNodes(cloud, id, name);
  await removeReplacedGroup(cloud, name, managed.name, replaced).catch(during('error removing owned security groups'));
  return true;
}

async function syncListeners({ api }: Cloud, plan: ClassicPlan, present: LoadBalancerDescription): Promise<boolean> {
  const { add, remove } = listenerChange(plan.listeners, present.ListenerDescriptions);
  if (remove.length > 0)
    await api
      .elb(new DeleteLoadBalancerListenersCommand({ LoadBalancerName: plan.name, LoadBalancerPorts: remove }))
      .catch(during('error deleting AWS loadbalancer listeners'));
  if (add.length > 0)
    await api
      .elb(new CreateLoadBalancerListenersCommand({ LoadBalancerName: plan.name, Listeners: add }))
      .catch(during('error creating AWS loadbalancer listeners'));
  return add.length + remove.length > 0;
}

async function addTags({ api }: Cloud, { name, userTags }: ClassicPlan): Promise<void> {
  const Tags = Object.entries(userTags).map(([Key, Value]) => ({ Key, Value }));
  if (Tags.length > 0)
    await api
      .elb(new AddTagsCommand({ LoadBalancerNames: [name], Tags }))
      .catch(during('unable to create additional load balancer tags'));
}

async function syncAttributes({ api }: Cloud, { name, attributes }: ClassicPlan): Promise<boolean> {
  const { LoadBalancerAttributes } = await api
    .elb(new DescribeLoadBalancerAttributesCommand({ LoadBalancerName: name }))
    .catch(during('unable to retrieve load balancer attributes during attribute sync'));
  if (sameAttributes(attributes, LoadBalancerAttributes)) return false;
  await api
    .elb(new ModifyLoadBalancerAttributesCommand({ LoadBalancerName: name, LoadBalancerAttributes: attributes }))
    .catch(during('Unable to update load balancer attributes during attribute sync'));
  return true;
}

/** The load balancer with everything that clients see of it. */
async function ensureFront(
  cloud: Cloud,
  plan: ClassicPlan,
  present: LoadBalancerDescription | undefined,
  subnets: string[],
  groups: string[],
): Promise<LoadBalancerDescription> {
  const ports = plan.listeners.map(({ InstancePort = 0 }) => InstancePort);
  let changed = true;
  if (!present) {
    await create(cloud, plan, subnets, groups);
    await syncProxyProtocol(cloud, plan.name, ports, [], plan.proxyProtocol);
  } else {
    const changes = [
      await syncSubnets(cloud, plan.name, subnets, present.Subnets ?? []),
      await syncGroups(cloud, plan, groups, present.SecurityGroups ?? []),
      await syncListeners(cloud, plan, present),
      await syncProxyProtocol(cloud, plan.name, ports, present.BackendServerDescriptions, plan.proxyProtocol),
    ];
    await addTags(cloud, plan);
    changed = changes.includes(true);
  }
  if (await syncAttributes(cloud, plan)) changed = true;
  const result = changed ? await describeClassic(cloud, plan.name) : present;
  if (!result) throw new Error(`load balancer ${plan.name} was deleted while it was changed`);
  return result;
}

async function syncHealthCheck(
  { api }: Cloud,
  { name, healthCheck }: ClassicPlan,
  present: LoadBalancerDescription,
): Promise<void> {
  if (sameHealthCheck(healthCheck, present.HealthCheck)) return;
  await api
    .elb(new ConfigureHealthCheckCommand({ LoadBalancerName: name, HealthCheck: healthCheck }))
    .catch(during(`error configuring load balancer health check for ${name}`));
}

/** Exactly these instances get traffic. */
async function syncInstances({ api, backends }: Cloud, present: LoadBalancerDescription, wanted: string[]): Promise<void> {
  const name = present.LoadBalancerName;
  const actual = (present.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
  const instances = (ids: readonly string[]) => ids.toSorted().map((InstanceId) => ({ InstanceId }));
  const [add, remove] = [instances(missing(wanted, actual)), instances(missing(actual, wanted))];
  if (add.length > 0)
    await api
      .elb(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName: name, Instances: add }))
      .catch((error: unknown) => {
        if (isUnknownBackend(error)) backends.forget();
        throw error;
      })
      .catch(during(`error registering instances with load balancer ${name}`));
  if (remove.length > 0)
    await api
      .elb(new DeregisterInstancesFromLoadBalancerCommand({ LoadBalancerName: name, Instances: remove }))
      .catch(during(`error deregistering instances from load balancer ${name}`));
}

export async function ensureClassic(cloud: Cloud, service: Service, nodes: readonly Node[]): Promise<LoadBalancerStatus> {
  const plan = classicPlan(service, cloud.config.Global);
  const present = await describeClassic(cloud, plan.name);
  const instances = await cloud.backends.of(targetNodes(service, nodes));
  // One that is on the other side than it should be is not moved to subnets of that side.
  const stays = present?.Scheme !== undefined && present.Scheme !== schemeOf(service);
  const subnets = stays ? (present.Subnets ?? []) : await loadBalancerSubnets(cloud, annotationsOf(service));
  const groups = await securityGroups(cloud, plan.groups);
  const loadBalancer = await ensureFront(cloud, plan, present, subnets, groups);
  if (plan.tlsPolicy !== undefined) await syncTlsPolicy(cloud, loadBalancer, plan.tlsPolicy);
  await syncHealthCheck(cloud, plan, loadBalancer);
  await admitToNodes(cloud, groups, plan.groups, instances.values());
  await syncInstances(cloud, loadBalancer, [...instances.keys()]);
  checkScheme(service, { name: plan.name, scheme: loadBalancer.Scheme });
  return classicStatus(loadBalancer);
}

/** Backends only, and the TLS policy, as upstream. Throws when there is no load balancer. */
export async function updateClassic(cloud: Cloud, name: string, service: Service, nodes: readonly Node[]): Promise<void> {
  const instances = await cloud.backends.of(targetNodes(service, nodes));
  const loadBalancer = await describeClassic(cloud, name);
  if (!loadBalancer) throw new Error('Load balancer not found');
  const tlsPolicy = annotationsOf(service)[annotation.tlsPolicy];
  if (tlsPolicy) await syncTlsPolicy(cloud, loadBalancer, tlsPolicy);
  await syncInstances(cloud, loadBalancer, [...instances.keys()]);
  const groups = groupsOf(service, cloud.config.Global);
  await admitToNodes(cloud, loadBalancer.SecurityGroups ?? [], groups, instances.values());
}
