// Network load balancers, their listeners and target groups as Elastic Load Balancing shows them.
import type { LoadBalancer } from '../../../model/index.ts';
import { listAll } from '../../../client/index.ts';
import { type Account, type Action, type Actions, tagMembers } from '../account.ts';
import { localBalancers } from '../balancers.ts';
import { zonesOf } from '../elb/describe.ts';
import { AwsError } from '../errors.ts';
import type { Facts, NetworkFacts, NetworkListener, TargetGroupFacts } from '../facts.ts';
import { pageOf } from '../pages.ts';
import type { Parameters } from '../parameters.ts';
import type { Xml } from '../xml.ts';

/** The network load balancer with this ARN. Throws the API's error where there is none. */
export function networkOf({ network }: Facts, arn: string): NetworkFacts {
  const found = Object.hasOwn(network, arn) ? network[arn] : undefined;
  if (!found) throw new AwsError('LoadBalancerNotFound', `Load balancer '${arn}' not found`);
  return found;
}
/** The target group with this ARN. Throws the API's error where there is none. */
export function targetGroupOf({ targetGroups }: Facts, arn: string): TargetGroupFacts {
  const found = Object.hasOwn(targetGroups, arn) ? targetGroups[arn] : undefined;
  if (!found) throw new AwsError('TargetGroupNotFound', `Target group '${arn}' not found`);
  return found;
}
/** The listener with this ARN, and its load balancer. Throws the API's error where there is none. */
export function listenerOf({ network }: Facts, arn: string): { balancer: NetworkFacts; listener: NetworkListener } {
  for (const balancer of Object.values(network))
    for (const listener of balancer.listeners) if (listener.arn === arn) return { balancer, listener };
  throw new AwsError('ListenerNotFound', `Listener '${arn}' not found`);
}

const states: Readonly<Record<LoadBalancer['state'], string>> = {
  provisioning: 'provisioning',
  active: 'active',
  failed: 'failed',
};

export function balancerXml(facts: NetworkFacts, local: LoadBalancer | undefined, zones: ReadonlyMap<string, string>): Xml {
  return {
    LoadBalancerArn: facts.arn,
    DNSName: facts.dnsName,
    CanonicalHostedZoneId: 'Z00000000000000000000',
    CreatedTime: local?.createdAt,
    LoadBalancerName: facts.name,
    Scheme: local?.scheme ?? 'internet-facing',
    VpcId: local?.vpcId,
    State: { Code: states[local?.state ?? 'failed'] },
    Type: 'network',
    AvailabilityZones: facts.subnets.map((id) => ({ ZoneName: zones.get(id) ?? '', SubnetId: id, LoadBalancerAddresses: [] })),
    SecurityGroups: facts.securityGroups,
    IpAddressType: 'ipv4',
  };
}

export const listenerXml = (listener: NetworkListener, { arn }: NetworkFacts): Xml => ({
  ListenerArn: listener.arn,
  LoadBalancerArn: arn,
  Port: listener.port,
  Protocol: listener.protocol,
  DefaultActions: [{ Type: 'forward', TargetGroupArn: listener.targetGroupArn }],
});

export function targetGroupXml(group: TargetGroupFacts, { network }: Facts): Xml {
  const { health } = group;
  const users = Object.values(network).filter(({ listeners }) =>
    listeners.some(({ targetGroupArn }) => targetGroupArn === group.arn),
  );
  return {
    TargetGroupArn: group.arn,
    TargetGroupName: group.name,
    Protocol: group.protocol,
    Port: group.port,
    VpcId: group.vpcId,
    HealthCheckProtocol: health.protocol,
    HealthCheckPort: health.port,
    HealthCheckEnabled: true,
    HealthCheckIntervalSeconds: health.interval,
    HealthCheckTimeoutSeconds: health.timeout,
    HealthyThresholdCount: health.healthyThreshold,
    UnhealthyThresholdCount: health.unhealthyThreshold,
    HealthCheckPath: health.path,
    Matcher: health.protocol === 'TCP' ? undefined : { HttpCode: '200-399' },
    LoadBalancerArns: users.map(({ arn }) => arn),
    TargetType: 'instance',
    IpAddressType: 'ipv4',
  };
}

/** The page of a list that the parameter `Marker` asks for. */
export const marked = <T>(items: readonly T[], parameters: Parameters) =>
  pageOf(items, { size: parameters.integer('PageSize'), token: parameters.get('Marker') });

const describeBalancers: Action = async (account, parameters) => {
  const { now } = account.facts;
  const [arns, names] = [parameters.list('LoadBalancerArns'), parameters.list('Names')];
  const all = Object.values(now.network);
  const named = names.map((name) => {
    const found = all.find((one) => one.name === name);
    if (!found) throw new AwsError('LoadBalancerNotFound', `Load balancers '[${name}]' not found`);
    return found;
  });
  const found = arns.length + names.length === 0 ? all : [...arns.map((arn) => networkOf(now, arn)), ...named];
  const { items, next } = marked(found, parameters);
  const [local, zones] = await Promise.all([localBalancers(account), zonesOf(account)]);
  return { LoadBalancers: items.map((one) => balancerXml(one, local.get(one.localId), zones)), NextMarker: next };
};

const describeListeners: Action = ({ facts: { now } }, parameters) => {
  const arns = parameters.list('ListenerArns');
  const balancerArn = parameters.get('LoadBalancerArn');
  const found =
    balancerArn === undefined
      ? arns.map((arn) => listenerOf(now, arn))
      : networkOf(now, balancerArn).listeners.map((listener) => ({ listener, balancer: networkOf(now, balancerArn) }));
  const { items, next } = marked(found, parameters);
  return Promise.resolve({
    Listeners: items.map(({ listener, balancer }) => listenerXml(listener, balancer)),
    NextMarker: next,
  });
};

function chosenGroups(now: Facts, parameters: Parameters): TargetGroupFacts[] {
  const [arns, names, balancerArn] = [
    parameters.list('TargetGroupArns'),
    parameters.list('Names'),
    parameters.get('LoadBalancerArn'),
  ];
  if (balancerArn !== undefined) {
    const used = new Set(networkOf(now, balancerArn).listeners.map(({ targetGroupArn }) => targetGroupArn));
    return [...used].map((arn) => targetGroupOf(now, arn));
  }
  const all = Object.values(now.targetGroups);
  if (arns.length + names.length === 0) return all;
  const named = names.map((name) => {
    const found = all.find((group) => group.name === name);
    if (!found) throw new AwsError('TargetGroupNotFound', 'One or more target groups not found');
    return found;
  });
  return [...arns.map((arn) => targetGroupOf(now, arn)), ...named];
}

const describeTargetGroups: Action = ({ facts: { now } }, parameters) => {
  const { items, next } = marked(chosenGroups(now, parameters), parameters);
  return Promise.resolve({ TargetGroups: items.map((group) => targetGroupXml(group, now)), NextMarker: next });
};

const healthWords = {
  healthy: { State: 'healthy' },
  unhealthy: { State: 'unhealthy', Reason: 'Target.FailedHealthChecks', Description: 'Health checks failed' },
  initial: { State: 'initial', Reason: 'Elb.RegistrationInProgress', Description: 'Target registration is in progress' },
  unused: { State: 'unused', Reason: 'Target.NotInUse', Description: 'Target is not in use' },
} as const;

/** Health is what the local cloud has seen of a target at the load balancer that uses the group. */
const describeTargetHealth: Action = async (account, parameters) => {
  const { now } = account.facts;
  const group = targetGroupOf(now, parameters.need('TargetGroupArn'));
  const user = Object.values(now.network).find(({ listeners }) =>
    listeners.some(({ targetGroupArn }) => targetGroupArn === group.arn),
  );
  const local = user && (await localBalancers(account)).get(user.localId);
  const health = new Map((local?.targets ?? []).map((target) => [target.instanceId, target.health]));
  const alive = await livingInstances(account);
  return {
    TargetHealthDescriptions: group.targets
      .filter(({ id }) => alive.has(id))
      .map(({ id, port }) => ({
        Target: { Id: id, Port: port },
        HealthCheckPort: group.health.port === 'traffic-port' ? String(port) : group.health.port,
        TargetHealth: healthWords[health.get(id) ?? 'unused'],
      })),
  };
};

/** Terminated instances are no targets any more. */
async function livingInstances({ cloud }: Account): Promise<Set<string>> {
  const instances = await listAll((page) => cloud.listInstances(page));
  return new Set(instances.flatMap(({ id, state }) => (state === 'terminated' ? [] : [id])));
}

export const attributeMembers = (attributes: Readonly<Record<string, string>>): Xml => tagMembers(attributes);

const describeBalancerAttributes: Action = ({ facts: { now } }, parameters) =>
  Promise.resolve({ Attributes: attributeMembers(networkOf(now, parameters.need('LoadBalancerArn')).attributes) });
const describeGroupAttributes: Action = ({ facts: { now } }, parameters) =>
  Promise.resolve({ Attributes: attributeMembers(targetGroupOf(now, parameters.need('TargetGroupArn')).attributes) });

const describeTags: Action = async (account, parameters) => {
  const { now } = account.facts;
  const local = await localBalancers(account);
  const tagsOf = (arn: string): Readonly<Record<string, string>> => {
    if (arn.includes(':targetgroup/')) return targetGroupOf(now, arn).tags;
    if (arn.includes(':listener/')) return listenerOf(now, arn).listener.tags;
    return local.get(networkOf(now, arn).localId)?.tags ?? {};
  };
  return {
    TagDescriptions: parameters.list('ResourceArns').map((arn) => ({ ResourceArn: arn, Tags: tagMembers(tagsOf(arn)) })),
  };
};

export const describeActions: Actions = {
  DescribeLoadBalancers: describeBalancers,
  DescribeListeners: describeListeners,
  DescribeTargetGroups: describeTargetGroups,
  DescribeTargetHealth: describeTargetHealth,
  DescribeLoadBalancerAttributes: describeBalancerAttributes,
  DescribeTargetGroupAttributes: describeGroupAttributes,
  DescribeTags: describeTags,
};
