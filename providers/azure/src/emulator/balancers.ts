// Load balancers: what Azure refuses of them, gives them, and shows of what uses them.
import { Refusal } from 'sagong/cloud-provider/test-server';
import { idOf, lastOf, type Part, partsOf, type Resource, same } from './resource.ts';
import type { Subscription } from './subscription.ts';

const refuse = (code: string, message: string): never => {
  throw new Refusal(400, code, message);
};
const lists = [
  'frontendIPConfigurations',
  'backendAddressPools',
  'loadBalancingRules',
  'probes',
  'inboundNatRules',
  'outboundRules',
];
const numberOf = (part: Part, field: string): number => Number(part.properties?.[field] ?? 0);

function completeFrontend(subscription: Subscription, balancer: Resource, part: Part, before: Resource | undefined): Part {
  const { properties = {} } = part;
  const { publicIPAddress, subnet } = properties as { publicIPAddress?: unknown; subnet?: unknown };
  if (!publicIPAddress === !subnet)
    refuse(
      'FrontendIPConfigurationMustHaveEitherSubnetOrPublicIPAddress',
      `Frontend ${part.name} must have a subnet or a public IP address.`,
    );
  const old = partsOf(before, 'frontendIPConfigurations').find(({ name }) => same(name, part.name));
  if (publicIPAddress) {
    const ip = subscription.get(idOf(publicIPAddress));
    if (!ip)
      return refuse('InvalidResourceReference', `Resource ${idOf(publicIPAddress)} referenced by the request was not found.`);
    const user = subscription.userOf(ip.id);
    const own = `${balancer.id}/frontendIPConfigurations/`.toLowerCase();
    if (user && !user.toLowerCase().startsWith(own))
      refuse('PublicIPAddressInUse', `Resource ${ip.id} is referenced by ${user}.`);
    return { ...part, properties: { ...properties, publicIPAddress: { id: ip.id } } };
  }
  if (!subscription.get(idOf(subnet)))
    refuse('InvalidResourceReference', `Resource ${idOf(subnet)} referenced by the request was not found.`);
  const isIpv6 = properties['privateIPAddressVersion'] === 'IPv6';
  const given = isIpv6 ? subscription.newIpv6('fd00:db8:0:0:1') : subscription.privateAddress(lastOf(idOf(subnet)));
  const known = old && idOf(old.properties?.['subnet']) === idOf(subnet) ? old.properties?.['privateIPAddress'] : undefined;
  const isStatic = properties['privateIPAllocationMethod'] === 'Static';
  const privateIPAddress = isStatic ? properties['privateIPAddress'] : (known ?? given);
  const taken = subscription
    .of(balancer.type)
    .flatMap((other) => (same(other.id, balancer.id) ? [] : partsOf(other, 'frontendIPConfigurations')))
    .find((other) => other.properties?.['privateIPAddress'] === privateIPAddress);
  if (taken)
    refuse('PrivateIPAddressInUse', `IP address ${String(privateIPAddress)} is already allocated to resource ${taken.id}.`);
  return {
    ...part,
    properties: {
      privateIPAddressVersion: 'IPv4',
      ...properties,
      privateIPAllocationMethod: isStatic ? 'Static' : 'Dynamic',
      privateIPAddress,
    },
  };
}

function checkReferences(balancer: Resource): void {
  const has = (list: string, id: string): boolean => partsOf(balancer, list).some((part) => part.id?.toLowerCase() === id);
  const need = (rule: Part, field: string, list: string): void => {
    const id = idOf(rule.properties?.[field]);
    if (id !== '' && !has(list, id))
      refuse('InvalidResourceReference', `Resource ${id} referenced by resource ${rule.id} was not found.`);
  };
  const seen = new Map<string, string>();
  for (const rule of partsOf(balancer, 'loadBalancingRules')) {
    if (idOf(rule.properties?.['frontendIPConfiguration']) === '')
      refuse('LoadBalancingRuleMustHaveFrontendIP', `Rule ${rule.name} has no frontend.`);
    need(rule, 'frontendIPConfiguration', 'frontendIPConfigurations');
    need(rule, 'backendAddressPool', 'backendAddressPools');
    need(rule, 'probe', 'probes');
    const { protocol, frontendPort, backendPort, enableFloatingIP } = (rule.properties ?? {}) as Record<string, unknown>;
    const at = `${idOf(rule.properties?.['frontendIPConfiguration'])} ${String(protocol).toLowerCase()} ${String(frontendPort)}`;
    if (seen.has(at))
      refuse(
        'RulesUseSameFrontendPortProtocolAndIPConfig',
        `Rules ${seen.get(at)} and ${rule.name} use the same frontend, protocol and port.`,
      );
    seen.set(at, rule.name ?? '');
    if (!['tcp', 'udp', 'all'].includes(String(protocol).toLowerCase()))
      refuse('InvalidProtocol', `Rule ${rule.name} has an invalid protocol.`);
    if (String(protocol).toLowerCase() === 'all' && Number(frontendPort) !== 0 && idOf(rule.properties?.['probe']) === undefined)
      continue;
    const minutes = numberOf(rule, 'idleTimeoutInMinutes');
    if (minutes < 4 || minutes > 100)
      refuse('LoadBalancingRuleInvalidIdleTimeout', `Rule ${rule.name} has an invalid idle timeout.`);
    if (enableFloatingIP) continue;
    const back = `${idOf(rule.properties?.['backendAddressPool'])} ${String(protocol).toLowerCase()} ${String(backendPort)} direct`;
    if (seen.has(back))
      refuse(
        'RulesUseSameBackendPortProtocolAndPool',
        `Rules ${seen.get(back)} and ${rule.name} use the same backend port, protocol and pool.`,
      );
    seen.set(back, rule.name ?? '');
  }
  for (const probe of partsOf(balancer, 'probes')) {
    const { protocol, requestPath } = (probe.properties ?? {}) as { protocol?: string; requestPath?: string };
    if (numberOf(probe, 'intervalInSeconds') < 5)
      refuse('ProbeIntervalTooShort', `Probe ${probe.name} has an interval below 5 seconds.`);
    if (numberOf(probe, 'port') < 1) refuse('ProbePortInvalid', `Probe ${probe.name} has no port.`);
    if (!same(protocol, 'Tcp') && !requestPath) refuse('ProbeMissingRequestPath', `Probe ${probe.name} has no request path.`);
    if (same(protocol, 'Tcp') && requestPath) refuse('TcpProbeCannotHaveRequestPath', `Probe ${probe.name} has a request path.`);
  }
}

/** A load balancer as it will be, or why not. */
export function completeBalancer(subscription: Subscription, given: Resource, before: Resource | undefined): Resource {
  if (!same(given.sku?.name, 'Standard'))
    refuse('LoadBalancerSkuNotSupported', 'Only load balancers of SKU Standard can be made.');
  const frontends = partsOf(given, 'frontendIPConfigurations');
  if (frontends.length === 0) refuse('LoadBalancerMustHaveFrontendIPConfiguration', 'A load balancer needs a frontend.');
  const used = frontends.flatMap(({ properties }) => idOf(properties?.['publicIPAddress']) || []);
  if (new Set(used).size !== used.length) refuse('PublicIPAddressInUse', 'A public IP address can be used by one frontend only.');
  if (used.length > 0 && used.length < frontends.length)
    refuse('LoadBalancerFrontendsMixed', 'Frontends are all public or all private.');
  const properties: Record<string, unknown> = { ...given.properties };
  for (const list of lists) {
    const parts = partsOf(given, list);
    const names = parts.map(({ name = '' }) => name.toLowerCase());
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) refuse('InvalidRequestFormat', `Found 2 elements named ${twice} in ${list}.`);
    const bad = names.find((name) => !/^[a-z0-9]([\w.-]{0,78}\w)?$/.test(name));
    if (bad !== undefined) refuse('InvalidResourceName', `Resource name ${bad} is invalid.`);
    properties[list] = parts.map((part) => {
      const whole = list === 'frontendIPConfigurations' ? completeFrontend(subscription, given, part, before) : part;
      return {
        ...whole,
        id: `${given.id}/${list}/${part.name}`,
        properties: { ...whole.properties, provisioningState: 'Succeeded' },
      };
    });
  }
  const balancer = { ...given, properties };
  checkReferences(balancer);
  for (const pool of partsOf(before, 'backendAddressPools'))
    if (
      !partsOf(balancer, 'backendAddressPools').some(({ name }) => same(name, pool.name)) &&
      subscription.configsIn(pool.id ?? '').length > 0
    )
      refuse('InUseBackendAddressPoolCannotBeDeleted', `Pool ${pool.id} is in use.`);
  return balancer;
}

/** With what refers to its parts, which Azure works out. */
export function shownBalancer(subscription: Subscription, balancer: Resource): Resource {
  const rules = partsOf(balancer, 'loadBalancingRules');
  const using = (field: string, id: string | undefined): { id: string }[] =>
    rules.filter(({ properties }) => idOf(properties?.[field]) === id?.toLowerCase()).map(({ id: rule = '' }) => ({ id: rule }));
  const shown = (list: string, more: (part: Part) => Record<string, unknown>): Part[] =>
    partsOf(balancer, list).map((part) => ({ ...part, properties: { ...part.properties, ...more(part) } }));
  return {
    ...balancer,
    properties: {
      ...balancer.properties,
      frontendIPConfigurations: shown('frontendIPConfigurations', ({ id }) => ({
        loadBalancingRules: using('frontendIPConfiguration', id),
      })),
      probes: shown('probes', ({ id }) => ({ loadBalancingRules: using('probe', id) })),
      backendAddressPools: shown('backendAddressPools', ({ id }) => ({
        loadBalancingRules: using('backendAddressPool', id),
        backendIPConfigurations: subscription.configsIn(id ?? '').map((config) => ({ id: config })),
      })),
    },
  };
}
