// Changes of network load balancers and their listeners.
import { accountId, type Account, type Action, type Actions, digest, newId } from '../account.ts';
import { checkGroups, checkName, localBalancers, makeLocal, removeLocal, subnetsOf } from '../balancers.ts';
import { zonesOf } from '../elb/describe.ts';
import { AwsError, unsupported } from '../errors.ts';
import type { Facts, NetworkFacts, NetworkListener } from '../facts.ts';
import { networkZone } from '../names.ts';
import { type Parameters, tagsIn } from '../parameters.ts';
import { networkFront, projectNetwork, readGround } from '../projection.ts';
import { attributeMembers, balancerXml, listenerOf, listenerXml, networkOf, targetGroupOf } from './describe.ts';

/** Both ways to name subnets; addresses are of the first one, for the local cloud has one address for a load balancer. */
async function placesIn({ cloud }: Account, parameters: Parameters): Promise<{ subnets: string[]; address?: string }> {
  const mappings = parameters.parts('SubnetMappings');
  const [first] = mappings;
  const subnets = [...parameters.list('Subnets'), ...mappings.map((mapping) => mapping.need('SubnetId'))];
  const allocation = first?.get('AllocationId');
  const privateAddress = first?.get('PrivateIPv4Address');
  if (allocation !== undefined) {
    const { publicAddress } = await cloud.getAddress({ addressId: allocation.replace(/^eipalloc-/, 'eip-') });
    return { subnets, address: publicAddress };
  }
  return { subnets, ...(privateAddress !== undefined && { address: privateAddress }) };
}

const defaultAttributes = {
  'access_logs.s3.enabled': 'false',
  'access_logs.s3.bucket': '',
  'access_logs.s3.prefix': '',
  'deletion_protection.enabled': 'false',
  'ipv6.deny_all_igw_traffic': 'false',
  'load_balancing.cross_zone.enabled': 'false',
  'dns_record.client_routing_policy': 'any_availability_zone',
};

async function answerWith(account: Account, facts: NetworkFacts) {
  const [local, zones] = await Promise.all([localBalancers(account), zonesOf(account)]);
  return { LoadBalancers: [balancerXml(facts, local.get(facts.localId), zones)] };
}

const create: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const name = checkName(parameters.need('Name'), 'ValidationError');
    if ((parameters.get('Type') ?? 'application') !== 'network')
      throw unsupported('load balancers of HTTP (Type application) and of packets (gateway)');
    const { subnets: ids, address } = await placesIn(account, parameters);
    const subnets = (await subnetsOf(account, ids)).map(({ id }) => id);
    const securityGroups = [...new Set(parameters.list('SecurityGroups'))];
    await checkGroups(account, securityGroups);
    const scheme = parameters.get('Scheme') === 'internal' ? 'internal' : 'internet-facing';
    const twin = Object.values(facts.network).find((one) => one.name === name);
    // Asking for what is there already is no failure: the answer may have been lost.
    if (twin && twin.subnets.toSorted().join() === subnets.toSorted().join()) return answerWith(account, twin);
    if (twin)
      throw new AwsError('DuplicateLoadBalancerName', 'A load balancer with the same name exists, but with different settings');
    const id = newId(account, 16);
    const made: NetworkFacts = {
      name,
      arn: `arn:aws:elasticloadbalancing:${account.region}:${accountId}:loadbalancer/net/${name}/${id}`,
      localId: '',
      dnsName: `${name}-${digest(id, 16)}.${networkZone(account.region)}`.toLowerCase(),
      subnets,
      securityGroups,
      listeners: [],
      attributes: defaultAttributes,
    };
    const local = await makeLocal(account, {
      localName: `net-${name}`,
      scheme,
      subnetIds: subnets,
      tags: tagsIn(parameters, 'Tags'),
      ...(address !== undefined && { address }),
      ...networkFront(made, facts, await readGround(account)),
    });
    made.localId = local.id;
    await account.names.put(made.dnsName, local.address);
    facts.network[made.arn] = made;
    return answerWith(account, made);
  });

const remove: Action = (account, parameters) =>
  account.facts.change(async ({ network }) => {
    const arn = parameters.need('LoadBalancerArn');
    const own = Object.hasOwn(network, arn) ? network[arn] : undefined;
    // One that is not there is deleted already.
    if (!own) return {};
    if (own.attributes['deletion_protection.enabled'] === 'true')
      throw new AwsError(
        'OperationNotPermitted',
        `Load balancer '${arn}' cannot be deleted because deletion protection is enabled`,
      );
    await removeLocal(account, own);
    delete network[arn];
    return {};
  });

const protocols = ['TCP', 'UDP', 'TCP_UDP'];

/** What of a listener a request names. The emulated account has no certificates, and so no TLS. */
function sidesOf(facts: Facts, parameters: Parameters): Partial<Pick<NetworkListener, 'protocol' | 'port' | 'targetGroupArn'>> {
  const protocol = parameters.get('Protocol');
  if (protocol === 'TLS') {
    const arn = parameters.parts('Certificates')[0]?.get('CertificateArn') ?? '';
    throw new AwsError('CertificateNotFound', `Certificate ARN '${arn}' is not valid`);
  }
  if (protocol !== undefined && !protocols.includes(protocol))
    throw new AwsError('ValidationError', `Listener protocol '${protocol}' must be one of ${protocols.join(', ')}`);
  const port = parameters.integer('Port');
  if (port !== undefined && (port < 1 || port > 65_535)) throw new AwsError('ValidationError', `Invalid port ${port}`);
  const [action] = parameters.parts('DefaultActions');
  if (action && action.get('Type') !== 'forward') throw unsupported(`the action ${action.get('Type')}`);
  const targetGroupArn = action?.need('TargetGroupArn');
  if (targetGroupArn !== undefined) targetGroupOf(facts, targetGroupArn);
  return {
    ...(protocol !== undefined && { protocol }),
    ...(port !== undefined && { port }),
    ...(targetGroupArn !== undefined && { targetGroupArn }),
  };
}

/** Throws when another one has the port. TCP and UDP may share it. */
function checkPort({ listeners }: NetworkFacts, { arn, protocol, port }: NetworkListener): void {
  const kinds = (name: string): string[] => name.split('_');
  const clash = listeners.some(
    (other) => other.arn !== arn && other.port === port && kinds(other.protocol).some((kind) => kinds(protocol).includes(kind)),
  );
  if (clash) throw new AwsError('DuplicateListener', 'A listener already exists on this port for this load balancer');
}

const createListener: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const own = networkOf(facts, parameters.need('LoadBalancerArn'));
    const { protocol, port, targetGroupArn } = sidesOf(facts, parameters);
    if (protocol === undefined || port === undefined || targetGroupArn === undefined)
      throw new AwsError('ValidationError', 'A listener needs a protocol, a port and an action that forwards to a target group');
    const twin = own.listeners.find(
      (one) => one.port === port && one.protocol === protocol && one.targetGroupArn === targetGroupArn,
    );
    if (twin) return { Listeners: [listenerXml(twin, own)] };
    const arn = `${own.arn.replace(':loadbalancer/', ':listener/')}/${newId(account, 16)}`;
    const listener = { arn, protocol, port, targetGroupArn, tags: tagsIn(parameters, 'Tags') };
    checkPort(own, listener);
    own.listeners.push(listener);
    await projectNetwork(account, own, facts);
    return { Listeners: [listenerXml(listener, own)] };
  });

const modifyListener: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const { balancer, listener } = listenerOf(facts, parameters.need('ListenerArn'));
    Object.assign(listener, sidesOf(facts, parameters));
    checkPort(balancer, listener);
    await projectNetwork(account, balancer, facts);
    return { Listeners: [listenerXml(listener, balancer)] };
  });

const deleteListener: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const { balancer, listener } = listenerOf(facts, parameters.need('ListenerArn'));
    balancer.listeners = balancer.listeners.filter((one) => one !== listener);
    await projectNetwork(account, balancer, facts);
    return {};
  });

const setSecurityGroups: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const own = networkOf(facts, parameters.need('LoadBalancerArn'));
    const groups = [...new Set(parameters.list('SecurityGroups'))];
    if (own.securityGroups.length === 0)
      throw new AwsError('InvalidConfigurationRequest', 'A load balancer that was made without security groups can have none');
    await checkGroups(account, groups);
    own.securityGroups = groups;
    await projectNetwork(account, own, facts);
    return { SecurityGroupIds: groups };
  });

const modifyAttributes: Action = (account, parameters) =>
  account.facts.change(async (facts) => {
    const own = networkOf(facts, parameters.need('LoadBalancerArn'));
    const given = tagsIn(parameters, 'Attributes');
    const unknown = Object.keys(given).find((key) => !Object.hasOwn(defaultAttributes, key));
    if (unknown !== undefined)
      throw new AwsError('ValidationError', `Load balancer attribute key '${unknown}' is not recognized`);
    Object.assign(own.attributes, given);
    return { Attributes: attributeMembers(own.attributes) };
  });

export const balancerActions: Actions = {
  CreateLoadBalancer: create,
  DeleteLoadBalancer: remove,
  CreateListener: createListener,
  ModifyListener: modifyListener,
  DeleteListener: deleteListener,
  SetSecurityGroups: setSecurityGroups,
  ModifyLoadBalancerAttributes: modifyAttributes,
};
