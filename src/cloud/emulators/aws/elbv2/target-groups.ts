// Changes of target groups. The local cloud has none: what is in one is a target of the load balancer that uses it.
import { accountId, type Account, type Action, type Actions, newId } from '../account.ts';
import { changeLocalTags, checkName } from '../balancers.ts';
import { AwsError, unsupported } from '../errors.ts';
import type { Facts, TargetGroupFacts, TargetHealthCheck } from '../facts.ts';
import { type Parameters, tagsIn } from '../parameters.ts';
import { projectNetwork, readGround } from '../projection.ts';
import { attributeMembers, listenerOf, networkOf, targetGroupOf, targetGroupXml } from './describe.ts';

/** `before`: of a group that is there. Defaults are those of groups for TCP. */
function healthOf(parameters: Parameters, before?: TargetHealthCheck): TargetHealthCheck {
  const protocol = parameters.get('HealthCheckProtocol') ?? before?.protocol ?? 'TCP';
  const path = parameters.get('HealthCheckPath') ?? before?.path;
  const health = {
    protocol,
    port: parameters.get('HealthCheckPort') ?? before?.port ?? 'traffic-port',
    ...(protocol !== 'TCP' && { path: path ?? '/' }),
    interval: parameters.integer('HealthCheckIntervalSeconds') ?? before?.interval ?? 30,
    timeout: parameters.integer('HealthCheckTimeoutSeconds') ?? before?.timeout ?? (protocol === 'HTTP' ? 6 : 10),
    healthyThreshold: parameters.integer('HealthyThresholdCount') ?? before?.healthyThreshold ?? 5,
    unhealthyThreshold: parameters.integer('UnhealthyThresholdCount') ?? before?.unhealthyThreshold ?? 2,
  };
  const { interval, timeout, healthyThreshold, unhealthyThreshold } = health;
  const problem =
    (!['TCP', 'HTTP', 'HTTPS'].includes(protocol) && `Health check protocol '${protocol}' must be one of TCP, HTTP, HTTPS`) ||
    (health.port !== 'traffic-port' && !isPort(Number(health.port)) && `Health check port '${health.port}' is not valid`) ||
    ((interval < 5 || interval > 300) && 'Health check interval must be between 5 and 300') ||
    ((timeout < 2 || timeout > 120) && 'Health check timeout must be between 2 and 120') ||
    ([healthyThreshold, unhealthyThreshold].some((each) => each < 2 || each > 10) && 'Thresholds must be between 2 and 10');
  if (problem) throw new AwsError('ValidationError', problem);
  return health;
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

const defaultAttributes = {
  'deregistration_delay.timeout_seconds': '300',
  'deregistration_delay.connection_termination.enabled': 'false',
  'preserve_client_ip.enabled': 'true',
  'proxy_protocol_v2.enabled': 'false',
  'stickiness.enabled': 'false',
  'stickiness.type': 'source_ip',
  'load_balancing.cross_zone.enabled': 'use_load_balancer_configuration',
};

const create: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const name = checkName(parameters.need('Name'), 'ValidationError');
    const protocol = parameters.need('Protocol');
    const port = parameters.integer('Port') ?? 0;
    if ((parameters.get('TargetType') ?? 'instance') !== 'instance') throw unsupported('targets that are no instances');
    if (!['TCP', 'UDP', 'TCP_UDP'].includes(protocol)) throw unsupported(`target groups of the protocol ${protocol}`);
    if (!isPort(port)) throw new AwsError('ValidationError', `Invalid port ${port}`);
    const health = healthOf(parameters);
    const { id: vpcId } = await account.cloud.getVpc({ vpcId: parameters.need('VpcId') });
    const twin = Object.values(facts.targetGroups).find((group) => group.name === name);
    const same =
      twin &&
      twin.protocol === protocol &&
      twin.port === port &&
      twin.vpcId === vpcId &&
      JSON.stringify(twin.health) === JSON.stringify(health);
    if (same) return { TargetGroups: [targetGroupXml(twin, facts)] };
    if (twin)
      throw new AwsError('DuplicateTargetGroupName', 'A target group with the same name exists, but with different settings');
    const arn = `arn:aws:elasticloadbalancing:${account.region}:${accountId}:targetgroup/${name}/${newId(account, 16)}`;
    const tags = tagsIn(parameters, 'Tags');
    const made: TargetGroupFacts = { name, arn, vpcId, protocol, port, health, attributes: defaultAttributes, targets: [], tags };
    facts.targetGroups[arn] = made;
    return { TargetGroups: [targetGroupXml(made, facts)] };
  });

const usersOf = ({ network }: Facts, arn: string) =>
  Object.values(network).filter(({ listeners }) => listeners.some(({ targetGroupArn }) => targetGroupArn === arn));

const remove: Action = (account, parameters) =>
  account.facts.change((facts) => {
    const arn = parameters.need('TargetGroupArn');
    if (usersOf(facts, arn).length > 0)
      throw new AwsError('ResourceInUse', `Target group '${arn}' is currently in use by a listener or a rule`);
    delete facts.targetGroups[arn];
    return Promise.resolve({});
  });

/** A change of one, which load balancers that use it follow. */
const change =
  (work: (group: TargetGroupFacts, parameters: Parameters, account: Account, facts: Facts) => Promise<object> | object): Action =>
  (account, parameters) =>
    account.facts.change(async (facts) => {
      const group = targetGroupOf(facts, parameters.need('TargetGroupArn'));
      const result = await work(group, parameters, account, facts);
      for (const balancer of usersOf(facts, group.arn)) await projectNetwork(account, balancer, facts);
      return result as Record<string, never>;
    });

const modify = change((group, parameters, _account, facts) => {
  group.health = healthOf(parameters, group.health);
  return { TargetGroups: [targetGroupXml(group, facts)] };
});

const modifyAttributes = change((group, parameters) => {
  const given = tagsIn(parameters, 'Attributes');
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(defaultAttributes, key));
  if (unknown !== undefined) throw new AwsError('ValidationError', `Target group attribute key '${unknown}' is not recognized`);
  Object.assign(group.attributes, given);
  return { Attributes: attributeMembers(group.attributes) };
});

const targetsIn = (parameters: Parameters, { port }: TargetGroupFacts) =>
  parameters.parts('Targets').map((target) => ({ id: target.need('Id'), port: target.integer('Port') ?? port }));
const same = (a: { id: string; port: number }, b: { id: string; port: number }): boolean => a.id === b.id && a.port === b.port;

const register = change(async (group, parameters, account) => {
  const given = targetsIn(parameters, group);
  const { instances } = await readGround(account);
  for (const { id, port } of given) {
    if (instances.get(id)?.vpcId !== group.vpcId)
      throw new AwsError('InvalidTarget', `The following targets are not in the target group VPC '${group.vpcId}': '${id}'`);
    if (port !== group.port) throw unsupported('a target with another port than its group');
  }
  group.targets = [
    ...group.targets.filter(({ id }) => instances.has(id)),
    ...given.filter((one) => !group.targets.some((known) => same(known, one))),
  ];
  return {};
});

const deregister = change((group, parameters) => {
  const gone = targetsIn(parameters, group);
  group.targets = group.targets.filter((target) => !gone.some((one) => same(one, target)));
  return {};
});

const changeTags =
  (work: (tags: Readonly<Record<string, string>>, parameters: Parameters) => Record<string, string>): Action =>
  (account, parameters) =>
    account.facts.change(async (facts) => {
      for (const arn of parameters.list('ResourceArns')) {
        if (arn.includes(':loadbalancer/')) await changeBalancerTags(account, networkOf(facts, arn).localId, parameters);
        else {
          const owner = arn.includes(':listener/') ? listenerOf(facts, arn).listener : targetGroupOf(facts, arn);
          owner.tags = work(owner.tags, parameters);
        }
      }
      return {};
    });

/** Changes the tags of a load balancer, which the local cloud keeps. */
const changeBalancerTags = (account: Account, localId: string, parameters: Parameters): Promise<void> =>
  changeLocalTags(account, localId, tagsIn(parameters, 'Tags'), parameters.list('TagKeys'));

export const targetGroupActions: Actions = {
  CreateTargetGroup: create,
  DeleteTargetGroup: remove,
  ModifyTargetGroup: modify,
  ModifyTargetGroupAttributes: modifyAttributes,
  RegisterTargets: register,
  DeregisterTargets: deregister,
  AddTags: changeTags((tags, parameters) => ({ ...tags, ...tagsIn(parameters, 'Tags') })),
  RemoveTags: changeTags((tags, parameters) => {
    const gone = new Set(parameters.list('TagKeys'));
    return Object.fromEntries(Object.entries(tags).filter(([key]) => !gone.has(key)));
  }),
};
