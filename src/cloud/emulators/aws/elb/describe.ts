// Classic load balancers as Elastic Load Balancing shows them.
import type { LoadBalancer } from '../../../model/index.ts';
import { type Account, type Action, type Actions, tagMembers } from '../account.ts';
import { localBalancers } from '../balancers.ts';
import { AwsError } from '../errors.ts';
import type { ClassicFacts, Facts } from '../facts.ts';
import { pageOf } from '../pages.ts';
import type { Xml } from '../xml.ts';

/** The classic load balancer with this name. Throws the API's error where there is none. */
export function classicNamed({ classic }: Facts, name: string): ClassicFacts {
  const found = Object.hasOwn(classic, name) ? classic[name] : undefined;
  if (!found) throw new AwsError('LoadBalancerNotFound', `There is no ACTIVE Load Balancer named '${name}'`);
  return found;
}

const listenerXml = ({ protocol, port, instanceProtocol, instancePort, policies }: ClassicFacts['listeners'][number]): Xml => ({
  Listener: { Protocol: protocol, LoadBalancerPort: port, InstanceProtocol: instanceProtocol, InstancePort: instancePort },
  PolicyNames: policies,
});

function balancerXml(facts: ClassicFacts, local: LoadBalancer | undefined, zones: ReadonlyMap<string, string>): Xml {
  const { healthCheck, backends, policies } = facts;
  return {
    LoadBalancerName: facts.name,
    DNSName: facts.dnsName,
    CanonicalHostedZoneName: facts.dnsName,
    CanonicalHostedZoneNameID: 'Z00000000000000000000',
    ListenerDescriptions: facts.listeners.map(listenerXml),
    Policies: {
      AppCookieStickinessPolicies: [],
      LBCookieStickinessPolicies: [],
      OtherPolicies: policies.map(({ name }) => name),
    },
    BackendServerDescriptions: Object.entries(backends)
      .filter(([, names]) => names.length > 0)
      .map(([port, names]) => ({ InstancePort: port, PolicyNames: names })),
    AvailabilityZones: [...new Set(facts.subnets.flatMap((id) => zones.get(id) ?? []))],
    Subnets: facts.subnets,
    VPCId: local?.vpcId,
    Instances: (local?.targets ?? []).map(({ instanceId }) => ({ InstanceId: instanceId })),
    HealthCheck: {
      Target: healthCheck.target,
      Interval: healthCheck.interval,
      Timeout: healthCheck.timeout,
      UnhealthyThreshold: healthCheck.unhealthyThreshold,
      HealthyThreshold: healthCheck.healthyThreshold,
    },
    SecurityGroups: facts.securityGroups,
    CreatedTime: local?.createdAt,
    Scheme: local?.scheme ?? 'internet-facing',
  };
}

/** The zone of each subnet, by the subnet's ID. */
export const zonesOf = async ({ cloud }: Account): Promise<Map<string, string>> =>
  new Map((await cloud.listSubnets({ limit: 1000 })).items.map(({ id, zone }) => [id, zone]));

const describe: Action = async (account, parameters) => {
  const names = parameters.list('LoadBalancerNames');
  const { now } = account.facts;
  const found = names.length === 0 ? Object.values(now.classic) : names.map((name) => classicNamed(now, name));
  const { items, next } = pageOf(found, { size: parameters.integer('PageSize'), token: parameters.get('Marker') });
  const [local, zones] = await Promise.all([localBalancers(account), zonesOf(account)]);
  return {
    LoadBalancerDescriptions: items.map((facts) => balancerXml(facts, local.get(facts.localId), zones)),
    NextMarker: next,
  };
};

const describePolicies: Action = ({ facts }, parameters) => {
  const name = parameters.get('LoadBalancerName');
  const wanted = parameters.list('PolicyNames');
  const policies = name === undefined ? [] : classicNamed(facts.now, name).policies;
  const unknown = wanted.find((policy) => !policies.some((known) => known.name === policy));
  if (unknown !== undefined) throw new AwsError('PolicyNotFound', `There is no policy with name ${unknown}`);
  return Promise.resolve({
    PolicyDescriptions: policies
      .filter((policy) => wanted.length === 0 || wanted.includes(policy.name))
      .map((policy) => ({
        PolicyName: policy.name,
        PolicyTypeName: policy.type,
        PolicyAttributeDescriptions: policy.attributes.map((each) => ({
          AttributeName: each.name,
          AttributeValue: each.value,
        })),
      })),
  });
};

/** The attributes as XML: `AccessLog.Enabled` is a field of a field. */
export function attributesXml(attributes: Readonly<Record<string, string>>): Xml {
  const groups: Record<string, Record<string, string>> = {};
  for (const [key, value] of Object.entries(attributes)) {
    const [group = '', field = ''] = key.split('.');
    groups[group] = { ...groups[group], [field]: value };
  }
  return groups;
}

const describeAttributes: Action = ({ facts }, parameters) =>
  Promise.resolve({
    LoadBalancerAttributes: attributesXml(classicNamed(facts.now, parameters.need('LoadBalancerName')).attributes),
  });

const reasons = { initial: 'Instance registration is still in progress.', unused: 'Instance is not used.' } as const;

const describeHealth: Action = async (account, parameters) => {
  const facts = classicNamed(account.facts.now, parameters.need('LoadBalancerName'));
  const wanted = parameters.parts('Instances').map((each) => each.need('InstanceId'));
  const { targets } = await account.cloud.getLoadBalancer({ loadBalancerId: facts.localId });
  const unknown = wanted.find((id) => !targets.some(({ instanceId }) => instanceId === id));
  if (unknown !== undefined) throw new AwsError('InvalidInstance', `Could not find EC2 instance ${unknown}.`);
  return {
    InstanceStates: targets
      .filter(({ instanceId }) => wanted.length === 0 || wanted.includes(instanceId))
      .map(({ instanceId, health }) => ({
        InstanceId: instanceId,
        State: health === 'healthy' ? 'InService' : 'OutOfService',
        ReasonCode: health === 'healthy' ? 'N/A' : health === 'unhealthy' ? 'Instance' : 'ELB',
        Description:
          health === 'healthy'
            ? 'N/A'
            : health === 'unhealthy'
              ? 'Instance has failed at least the UnhealthyThreshold number of health checks consecutively.'
              : reasons[health],
      })),
  };
};

const describeTags: Action = async (account, parameters) => {
  const local = await localBalancers(account);
  return {
    TagDescriptions: parameters.list('LoadBalancerNames').map((name) => ({
      LoadBalancerName: name,
      Tags: tagMembers(local.get(classicNamed(account.facts.now, name).localId)?.tags ?? {}),
    })),
  };
};

export const describeActions: Actions = {
  DescribeLoadBalancers: describe,
  DescribeLoadBalancerPolicies: describePolicies,
  DescribeLoadBalancerAttributes: describeAttributes,
  DescribeInstanceHealth: describeHealth,
  DescribeTags: describeTags,
};
