// Changes of classic load balancers. Each makes a new set of facts, and then the local cloud do what these say.
import { type Account, type Action, type Actions, digest } from '../account.ts';
import { changeLocalTags, checkGroups, checkName, makeLocal, removeLocal, subnetsOf } from '../balancers.ts';
import { AwsError } from '../errors.ts';
import type { ClassicFacts, ClassicListener } from '../facts.ts';
import { classicZone } from '../names.ts';
import { type Parameters, tagsIn } from '../parameters.ts';
import { classicFront, projectClassic, readGround } from '../projection.ts';
import { attributesXml, classicNamed } from './describe.ts';

const protocols = ['TCP', 'HTTP', 'SSL', 'HTTPS'];

function listenerOf(given: Parameters): ClassicListener {
  const protocol = given.need('Protocol').toUpperCase();
  const [port = 0, instancePort = 0] = [given.integer('LoadBalancerPort'), given.integer('InstancePort')];
  const instanceProtocol = (given.get('InstanceProtocol') ?? protocol).toUpperCase();
  if (![protocol, instanceProtocol].every((each) => protocols.includes(each)))
    throw new AwsError('ValidationError', `Invalid protocol ${protocol} or ${instanceProtocol}`);
  for (const each of [port, instancePort])
    if (each < 1 || each > 65_535) throw new AwsError('ValidationError', `Invalid port ${each}`);
  // The emulated account has no certificates.
  if (protocol === 'SSL' || protocol === 'HTTPS')
    throw new AwsError('CertificateNotFound', `Server Certificate not found for the key: ${given.get('SSLCertificateId') ?? ''}`);
  return { protocol, port, instanceProtocol, instancePort, policies: [] };
}

const sameListener = (a: ClassicListener, b: ClassicListener): boolean =>
  a.protocol === b.protocol &&
  a.port === b.port &&
  a.instanceProtocol === b.instanceProtocol &&
  a.instancePort === b.instancePort;

const defaultAttributes = {
  'AccessLog.Enabled': 'false',
  'ConnectionDraining.Enabled': 'false',
  'ConnectionDraining.Timeout': '300',
  'ConnectionSettings.IdleTimeout': '60',
  'CrossZoneLoadBalancing.Enabled': 'false',
};

/** Asking for what is there already is no failure: the answer may have been lost. */
function answerTwin(twin: ClassicFacts, wanted: Pick<ClassicFacts, 'listeners' | 'subnets' | 'securityGroups'>): string {
  const same =
    twin.listeners.length === wanted.listeners.length &&
    wanted.listeners.every((one) => twin.listeners.some((other) => sameListener(one, other))) &&
    twin.subnets.toSorted().join() === wanted.subnets.toSorted().join() &&
    twin.securityGroups.toSorted().join() === wanted.securityGroups.toSorted().join();
  if (!same)
    throw new AwsError(
      'DuplicateLoadBalancerName',
      `Load Balancer named ${twin.name} already exists and it is configured with different parameters.`,
    );
  return twin.dnsName;
}

const create: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const name = checkName(parameters.need('LoadBalancerName'), 'ValidationError');
    const listeners = parameters.parts('Listeners').map(listenerOf);
    if (listeners.length === 0) throw new AwsError('ValidationError', 'At least one listener must be specified');
    const subnets = await subnetsOf(account, parameters.list('Subnets'));
    const securityGroups = await groupsOrDefault(account, parameters.list('SecurityGroups'), subnets[0]?.vpcId ?? '');
    const wanted = { listeners, subnets: subnets.map(({ id }) => id), securityGroups };
    const twin = Object.hasOwn(facts.classic, name) ? facts.classic[name] : undefined;
    if (twin) return { DNSName: answerTwin(twin, wanted) };
    const scheme = parameters.get('Scheme') === 'internal' ? 'internal' : 'internet-facing';
    const made: ClassicFacts = {
      name,
      localId: '',
      dnsName: '',
      ...wanted,
      healthCheck: {
        target: `TCP:${listeners[0]?.instancePort}`,
        interval: 30,
        timeout: 5,
        unhealthyThreshold: 2,
        healthyThreshold: 10,
      },
      policies: [],
      backends: {},
      attributes: defaultAttributes,
    };
    const local = await makeLocal(account, {
      localName: `classic-${name}`,
      scheme,
      subnetIds: wanted.subnets,
      tags: tagsIn(parameters, 'Tags'),
      ...classicFront(made, await readGround(account)),
    });
    made.localId = local.id;
    const prefix = scheme === 'internal' ? 'internal-' : '';
    const number = String(Number.parseInt(digest(local.id, 8), 16)).padStart(10, '0');
    made.dnsName = `${prefix}${name}-${number}.${classicZone(account.region)}`.toLowerCase();
    await account.names.put(made.dnsName, local.address);
    facts.classic[name] = made;
    return { DNSName: made.dnsName };
  });

/** The security groups of a load balancer: those given, else the default group of its network. */
async function groupsOrDefault(account: Account, given: string[], vpcId: string): Promise<string[]> {
  await checkGroups(account, given);
  if (given.length > 0) return [...new Set(given)];
  return (await account.cloud.listSecurityGroups({ vpcId, name: 'default' })).items.map(({ id }) => id);
}

/** A change of one; what it gives are the fields of the answer. */
const change =
  (work: (facts: ClassicFacts, parameters: Parameters, account: Account) => Promise<object> | object): Action =>
  (account, parameters) =>
    account.facts.change(async (facts) => {
      const own = classicNamed(facts, parameters.need('LoadBalancerName'));
      const result = await work(own, parameters, account);
      await projectClassic(account, own);
      return result as Record<string, never>;
    });

const remove: Action = (account, parameters) =>
  account.facts.change(async ({ classic }) => {
    const name = parameters.need('LoadBalancerName');
    const own = Object.hasOwn(classic, name) ? classic[name] : undefined;
    // One that is not there is deleted already.
    if (!own) return {};
    await removeLocal(account, own);
    delete classic[name];
    return {};
  });

const createListeners = change((own, parameters) => {
  for (const listener of parameters.parts('Listeners').map(listenerOf)) {
    const twin = own.listeners.find(({ port }) => port === listener.port);
    if (!twin) own.listeners.push(listener);
    else if (!sameListener(twin, listener))
      throw new AwsError('DuplicateListener', `A listener already exists for ${own.name} with LoadBalancerPort ${listener.port}`);
  }
  return {};
});

const deleteListeners = change((own, parameters) => {
  const ports = parameters.list('LoadBalancerPorts').map(Number);
  own.listeners = own.listeners.filter(({ port }) => !ports.includes(port));
  return {};
});

const configureHealthCheck = change((own, parameters) => {
  const given = parameters.part('HealthCheck');
  const target = given.need('Target');
  if (!/^((TCP|SSL):\d{1,5}|(HTTP|HTTPS):\d{1,5}\/.*)$/i.test(target))
    throw new AwsError(
      'ValidationError',
      `HealthCheck HTTP Target must specify a port followed by a path that begins with a slash, not ${target}`,
    );
  own.healthCheck = {
    target,
    interval: given.integer('Interval') ?? 30,
    timeout: given.integer('Timeout') ?? 5,
    unhealthyThreshold: given.integer('UnhealthyThreshold') ?? 2,
    healthyThreshold: given.integer('HealthyThreshold') ?? 10,
  };
  const { interval, timeout, unhealthyThreshold, healthyThreshold } = own.healthCheck;
  if (interval < 5 || timeout < 2 || unhealthyThreshold < 2 || healthyThreshold < 2)
    throw new AwsError(
      'ValidationError',
      'The health check has an interval of at least 5, a timeout and thresholds of at least 2',
    );
  return {
    HealthCheck: {
      Target: target,
      Interval: interval,
      Timeout: timeout,
      UnhealthyThreshold: unhealthyThreshold,
      HealthyThreshold: healthyThreshold,
    },
  };
});

/** Instances are the local cloud's to know. */
const changeInstances = (after: (now: string[], given: string[]) => string[]): Action =>
  change(async (own, parameters, { cloud }) => {
    const given = parameters.parts('Instances').map((each) => each.need('InstanceId'));
    const { targets } = await cloud.getLoadBalancer({ loadBalancerId: own.localId });
    const ids = after(
      targets.map(({ instanceId }) => instanceId),
      given,
    );
    const wanted = ids.map((instanceId) => ({ instanceId }));
    await cloud.putTargets({ loadBalancerId: own.localId, targets: wanted });
    return { Instances: ids.map((InstanceId) => ({ InstanceId })) };
  });

const applySecurityGroups = change(async (own, parameters, account) => {
  const groups = parameters.list('SecurityGroups');
  await checkGroups(account, groups);
  own.securityGroups = [...new Set(groups)];
  return { SecurityGroups: own.securityGroups };
});

const attachSubnets = change(async (own, parameters, account) => {
  own.subnets = [...new Set([...own.subnets, ...parameters.list('Subnets')])];
  await subnetsOf(account, own.subnets);
  return { Subnets: own.subnets };
});
const detachSubnets = change((own, parameters) => {
  const gone = parameters.list('Subnets');
  own.subnets = own.subnets.filter((id) => !gone.includes(id));
  if (own.subnets.length === 0)
    throw new AwsError('InvalidConfigurationRequest', 'A load balancer must keep at least one subnet');
  return { Subnets: own.subnets };
});

const modifyAttributes = change((own, parameters) => {
  const given = parameters.part('LoadBalancerAttributes');
  const known = [
    ...Object.keys(defaultAttributes),
    'AccessLog.EmitInterval',
    'AccessLog.S3BucketName',
    'AccessLog.S3BucketPrefix',
  ];
  for (const key of known) {
    const [group = '', field = ''] = key.split('.');
    const value = given.part(group).get(field);
    if (value !== undefined) own.attributes[key] = value;
  }
  return { LoadBalancerName: own.name, LoadBalancerAttributes: attributesXml(own.attributes) };
});

const createPolicy = change((own, parameters) => {
  const name = parameters.need('PolicyName');
  if (own.policies.some((policy) => policy.name === name))
    throw new AwsError('DuplicatePolicyName', `A policy with name ${name} already exists for this load balancer`);
  const type = parameters.need('PolicyTypeName');
  const attributes = parameters
    .parts('PolicyAttributes')
    .map((each) => ({ name: each.need('AttributeName'), value: each.get('AttributeValue') ?? '' }));
  own.policies.push({ name, type, attributes });
  return {};
});
const deletePolicy = change((own, parameters) => {
  const name = parameters.need('PolicyName');
  const used = [...Object.values(own.backends), ...own.listeners.map(({ policies }) => policies)].some((names) =>
    names.includes(name),
  );
  if (used) throw new AwsError('InvalidConfigurationRequest', `The policy ${name} is in use`);
  own.policies = own.policies.filter((policy) => policy.name !== name);
  return {};
});

function policiesIn(own: ClassicFacts, parameters: Parameters): string[] {
  const names = parameters.list('PolicyNames');
  const unknown = names.find((name) => !own.policies.some((policy) => policy.name === name));
  if (unknown !== undefined) throw new AwsError('PolicyNotFound', `There is no policy with name ${unknown}`);
  return names;
}
const setBackendPolicies = change((own, parameters) => {
  own.backends[String(parameters.integer('InstancePort') ?? 0)] = policiesIn(own, parameters);
  return {};
});
const setListenerPolicies = change((own, parameters) => {
  const port = parameters.integer('LoadBalancerPort');
  const listener = own.listeners.find((one) => one.port === port);
  if (!listener) throw new AwsError('ListenerNotFound', `There is no listener on port ${port}`);
  listener.policies = policiesIn(own, parameters);
  return {};
});

const changeTags =
  (work: (account: Account, localId: string, parameters: Parameters) => Promise<void>): Action =>
  async (account, parameters) => {
    for (const name of parameters.list('LoadBalancerNames'))
      await work(account, classicNamed(account.facts.now, name).localId, parameters);
    return {};
  };

export const changeActions: Actions = {
  CreateLoadBalancer: create,
  DeleteLoadBalancer: remove,
  CreateLoadBalancerListeners: createListeners,
  DeleteLoadBalancerListeners: deleteListeners,
  ConfigureHealthCheck: configureHealthCheck,
  RegisterInstancesWithLoadBalancer: changeInstances((now, given) => [...new Set([...now, ...given])]),
  DeregisterInstancesFromLoadBalancer: changeInstances((now, given) => now.filter((id) => !given.includes(id))),
  ApplySecurityGroupsToLoadBalancer: applySecurityGroups,
  AttachLoadBalancerToSubnets: attachSubnets,
  DetachLoadBalancerFromSubnets: detachSubnets,
  ModifyLoadBalancerAttributes: modifyAttributes,
  CreateLoadBalancerPolicy: createPolicy,
  DeleteLoadBalancerPolicy: deletePolicy,
  SetLoadBalancerPoliciesForBackendServer: setBackendPolicies,
  SetLoadBalancerPoliciesOfListener: setListenerPolicies,
  AddTags: changeTags((account, id, parameters) => changeLocalTags(account, id, tagsIn(parameters, 'Tags'))),
  RemoveTags: changeTags((account, id, parameters) =>
    changeLocalTags(
      account,
      id,
      {},
      parameters.parts('Tags').map((tag) => tag.need('Key')),
    ),
  ),
};
