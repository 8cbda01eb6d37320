// What the local cloud does of a load balancer of AWS. Both kinds become one of kind `proxy`: listeners with ports of targets, one health check, and
// the ranges that security groups let in.
import type { HealthCheck, Instance, Listener, SecurityGroup, SecurityGroupRule } from '../../model/index.ts';
import type { Input } from '../../api/index.ts';
import { deepEqual } from '#utils';
import { listAll } from '../../client/index.ts';
import type { Account } from './account.ts';
import { admitted, restrict } from './admission.ts';
import type { ClassicFacts, Facts, NetworkFacts, TargetGroupFacts } from './facts.ts';
import { healthIntervalMaxMs } from './limits.ts';

/** What projections look at, read once for many. */
export interface Ground {
  groups: ReadonlyMap<string, SecurityGroup>;
  /** The instances that are not gone. */
  instances: ReadonlyMap<string, Instance>;
  /** The security groups of each instance. */
  groupsOfInstance: ReadonlyMap<string, readonly string[]>;
}

export async function readGround({ cloud }: Account): Promise<Ground> {
  const [groups, instances, interfaces] = await Promise.all([
    listAll((page) => cloud.listSecurityGroups(page)),
    listAll((page) => cloud.listInstances(page)),
    listAll((page) => cloud.listInterfaces(page)),
  ]);
  const groupsOfInstance = new Map<string, string[]>();
  for (const { attachment, securityGroupIds } of interfaces)
    if (attachment)
      groupsOfInstance.set(attachment.instanceId, [...(groupsOfInstance.get(attachment.instanceId) ?? []), ...securityGroupIds]);
  return {
    groups: new Map(groups.map((group) => [group.id, group])),
    instances: new Map(instances.filter(({ state }) => state !== 'terminated').map((one) => [one.id, one])),
    groupsOfInstance,
  };
}

export type Front = Required<Pick<Input<'modifyLoadBalancer'>, 'listeners' | 'sourceRanges' | 'healthCheck' | 'proxyProtocol'>> &
  Pick<Input<'modifyLoadBalancer'>, 'targets'>;

const rulesOf = ({ groups }: Ground, ids: Iterable<string>): SecurityGroupRule[] =>
  [...ids].flatMap((id) => groups.get(id)?.ingress ?? []);

const paced = (interval: number, timeout: number) => ({
  intervalMs: Math.min(interval * 1000, healthIntervalMaxMs),
  timeoutMs: Math.min(timeout * 1000, healthIntervalMaxMs),
});

/** Reads a health check such as `HTTP:10256/healthz` or `TCP:30080`. Behind TLS only the connection is checked. */
export function classicHealth({ healthCheck }: ClassicFacts): HealthCheck | undefined {
  const { target, interval, timeout, healthyThreshold, unhealthyThreshold } = healthCheck;
  const [, protocol, port, path] = /^(\w+):(\d+)(\/.*)?$/.exec(target) ?? [];
  if (protocol === undefined) return undefined;
  const common = { port: Number(port), ...paced(interval, timeout), healthyThreshold, unhealthyThreshold };
  return protocol.toUpperCase() === 'HTTP' ? { protocol: 'http', path: path ?? '/', ...common } : { protocol: 'tcp', ...common };
}

/** The policy of the PROXY protocol, at all ports of instances that listeners lead to. */
const hasProxyPolicy = ({ policies, backends, listeners }: ClassicFacts): boolean => {
  const names = policies.filter(({ type }) => type === 'ProxyProtocolPolicyType').map(({ name }) => name);
  const has = (port: number): boolean => (backends[port] ?? []).some((name) => names.includes(name));
  return listeners.length > 0 && listeners.every(({ instancePort }) => has(instancePort));
};

/** The load balancer of the local cloud for a classic one, without its targets, which are the local cloud's own. */
export function classicFront(facts: ClassicFacts, ground: Ground): Front {
  const listeners = facts.listeners.map(
    ({ port, instancePort }): Listener => ({ protocol: 'tcp', port, targetPort: instancePort }),
  );
  const rules = rulesOf(ground, facts.securityGroups);
  return {
    ...restrict(listeners, ({ protocol, port }) => admitted(rules, protocol, port)),
    healthCheck: classicHealth(facts) ?? null,
    proxyProtocol: hasProxyPolicy(facts) ? 'v1' : 'none',
  };
}

const transports: Readonly<Record<string, readonly Listener['protocol'][]>> = {
  TCP: ['tcp'],
  UDP: ['udp'],
  TCP_UDP: ['tcp', 'udp'],
};

/** A check over TCP at the port of UDP traffic finds nobody; AWS then takes all targets as healthy. */
function groupHealth({ health, port, protocol }: TargetGroupFacts): HealthCheck | undefined {
  const { interval, timeout, healthyThreshold, unhealthyThreshold, path } = health;
  if (protocol === 'UDP' && health.port === 'traffic-port') return undefined;
  const at = health.port === 'traffic-port' ? port : Number(health.port);
  const common = { port: at, ...paced(interval, timeout), healthyThreshold, unhealthyThreshold };
  return health.protocol === 'HTTP' ? { protocol: 'http', path: path ?? '/', ...common } : { protocol: 'tcp', ...common };
}

/** The local cloud has one set of targets and one health check: those of all groups, and of the first one. */
export function networkFront(balancer: NetworkFacts, { targetGroups }: Facts, ground: Ground): Front {
  const served = balancer.listeners.flatMap((listener) => {
    const group = targetGroups[listener.targetGroupArn];
    return group ? [{ listener, group }] : [];
  });
  const listeners = served.flatMap(({ listener, group }) =>
    (transports[listener.protocol] ?? []).map(
      (protocol): Listener => ({ protocol, port: listener.port, targetPort: group.port }),
    ),
  );
  const ids = [...new Set(served.flatMap(({ group }) => group.targets.map(({ id }) => id)))].filter((id) =>
    ground.instances.has(id),
  );
  const own = rulesOf(ground, balancer.securityGroups);
  // One without groups is transparent: the groups of its targets see the client.
  const behind = rulesOf(ground, new Set(ids.flatMap((id) => ground.groupsOfInstance.get(id) ?? [])));
  const [first] = served;
  const isTold = ({ attributes }: TargetGroupFacts): boolean => attributes['proxy_protocol_v2.enabled'] === 'true';
  return {
    ...restrict(listeners, ({ protocol, port, targetPort = port }) =>
      balancer.securityGroups.length > 0 ? admitted(own, protocol, port) : admitted(behind, protocol, targetPort),
    ),
    healthCheck: (first && groupHealth(first.group)) ?? null,
    proxyProtocol: served.length > 0 && served.every(({ group }) => isTold(group)) ? 'v2' : 'none',
    targets: ids.map((instanceId) => ({ instanceId })),
  };
}

/** Makes the local cloud do what the facts say of one load balancer. */
export async function projectClassic(account: Account, facts: ClassicFacts, ground?: Ground): Promise<void> {
  const front = classicFront(facts, ground ?? (await readGround(account)));
  await account.cloud.modifyLoadBalancer({ loadBalancerId: facts.localId, ...front });
}
export async function projectNetwork(account: Account, balancer: NetworkFacts, facts: Facts, ground?: Ground): Promise<void> {
  const front = networkFront(balancer, facts, ground ?? (await readGround(account)));
  await account.cloud.modifyLoadBalancer({ loadBalancerId: balancer.localId, ...front });
}

/** Brings the local cloud's load balancers up to date after a change of a security group, as far as the change matters to them. */
export async function projectAll(account: Account, facts: Facts): Promise<void> {
  const [ground, balancers] = await Promise.all([readGround(account), listAll((page) => account.cloud.listLoadBalancers(page))]);
  const known = new Map(balancers.map((one) => [one.id, one]));
  const differs = (localId: string, { sourceRanges, listeners }: Front): boolean => {
    const now = known.get(localId);
    return now !== undefined && !(deepEqual(now.sourceRanges, sourceRanges) && deepEqual(now.listeners, listeners));
  };
  for (const one of Object.values(facts.classic))
    if (differs(one.localId, classicFront(one, ground))) await projectClassic(account, one, ground);
  for (const one of Object.values(facts.network))
    if (differs(one.localId, networkFront(one, facts, ground))) await projectNetwork(account, one, facts, ground);
}
