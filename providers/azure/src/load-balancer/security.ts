// The network security group of the nodes, opened for the addresses of load balancers and closed again.
import { familyOf, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { LoadBalancer } from '@azure/arm-network';
import type { Node, Service } from 'sagong/cloud-provider';
import type { Cloud } from '../cloud.ts';
import { sameText } from '../ids.ts';
import { type Family, ownsPiece } from '../names.ts';
import { keptTags, sameTags } from '../tags.ts';
import { addressesOf } from './backends.ts';
import { isWithin, prefixesOf } from './frontends.ts';
import { isDirect, type Plan } from './plan.ts';
import { frontedIps } from './public-ips.ts';
import { isInside } from './ranges.ts';
import { type Kept, type RuleProtocol, ruleProtocols, SecurityRules } from './security-rules.ts';

/** An address at which a Service is, or was, reached, and the frontends that have it. */
export interface Reached {
  address: string;
  frontendIds: readonly string[];
}

/** How the group is to be changed for one Service. */
export interface Opening {
  service: Service;
  /** Both load balancers, as they are now. */
  balancers: readonly LoadBalancer[];
  /** Addresses out of which the Service is taken. */
  clear: readonly Reached[];
  /** What is to come: ports that it has as well, of nodes and at further addresses, are not closed. */
  next?: Plan;
  /** Undefined: nothing is let through. */
  open?: { plan: Plan; addresses: readonly string[]; nodes: readonly Node[] };
}
export interface Security {
  change(opening: Opening, signal?: AbortSignal): Promise<void>;
}

const families: readonly Family[] = ['IPv4', 'IPv6'];
const protocolOf = (transport: string | undefined): RuleProtocol =>
  (({ tcp: 'Tcp', udp: 'Udp' }) as const)[transport?.toLowerCase() ?? ''] ?? '*';

/** Whether a rule of another Service has this port at one of these frontends. */
function isOfOthers(
  { balancers, service }: Opening,
  frontendIds: readonly string[],
  protocol?: RuleProtocol,
  port?: number,
): boolean {
  const rules = balancers.flatMap(({ loadBalancingRules = [] }) => loadBalancingRules);
  return rules.some(
    (rule) =>
      !ownsPiece(service, rule.name) &&
      frontendIds.some((id) => sameText(id, rule.frontendIPConfiguration?.id)) &&
      (protocol === undefined || protocolOf(rule.protocol) === protocol) &&
      (port === undefined || rule.frontendPort === port),
  );
}

/** Ports that the Service has had, or is to have, at addresses of load balancers. */
function ownPorts({ balancers, service, open }: Opening, protocol: RuleProtocol | undefined): number[] {
  const there = balancers
    .flatMap(({ loadBalancingRules = [] }) => loadBalancingRules)
    .filter((rule) => ownsPiece(service, rule.name) && protocolOf(rule.protocol) === protocol)
    .flatMap(({ frontendPort = 0, backendPort = 0 }) => [frontendPort, backendPort]);
  const wanted = (service.spec?.ports ?? []).filter((one) => ruleProtocols[one.protocol ?? 'TCP'] === protocol);
  return [
    ...there,
    ...wanted.flatMap(({ port, nodePort = port }) => [port, nodePort]),
    ...(open && protocol ? families.flatMap((family) => portsOf(open.plan, protocol, family)) : []),
  ];
}

/** Node ports at which the rules of the Service reach nodes directly, those that are asked for included, those that stay left out. */
function directPorts({ balancers, service, next, open }: Opening, protocol: RuleProtocol): number[] {
  const there = nodePortsOf(balancers, service, protocol);
  const staying = next ? directPortsOf(next, protocol) : [];
  return [...there.filter((port) => !staying.includes(port)), ...(open ? directPortsOf(open.plan, protocol) : [])];
}

const nodePortsOf = (balancers: readonly LoadBalancer[], service: Service, protocol: RuleProtocol): number[] =>
  balancers
    .flatMap(({ loadBalancingRules = [] }) => loadBalancingRules)
    .filter(
      ({ name, enableFloatingIP, protocol: transport }) =>
        ownsPiece(service, name) && enableFloatingIP === false && protocolOf(transport) === protocol,
    )
    .map(({ backendPort = 0 }) => backendPort);

const portsOf = (plan: Plan, protocol: RuleProtocol, family: Family): number[] =>
  plan.ports
    .filter((one) => ruleProtocols[one.protocol ?? 'TCP'] === protocol)
    .map(({ port, nodePort }) => (isDirect(plan, family) ? (nodePort ?? port) : port));
const directPortsOf = (plan: Plan, protocol: RuleProtocol): number[] =>
  plan.families.flatMap(({ family }) => (isDirect(plan, family) ? portsOf(plan, protocol, family) : []));

/** Whether the Service itself goes on to let clients in at a further address; without a port, whether it keeps others out there. */
function isToStay(next: Plan | undefined, address: string, protocol?: RuleProtocol, port?: number): boolean {
  const family = familyOf(address);
  if (!next || !family || !next.additionalIps.includes(address)) return false;
  if (protocol === undefined || port === undefined) return next.access.denyOthers;
  return next.securityRules && portsOf(next, protocol, family).includes(port);
}

function openFor(rules: SecurityRules, { plan, addresses, nodes }: NonNullable<Opening['open']>): void {
  if (!plan.securityRules) return;
  for (const family of families) {
    const reached = isDirect(plan, family) ? nodes.flatMap((node) => addressesOf(node, family)) : addresses;
    const own = plan.families.some((one) => one.family === family) ? reached : [];
    const destinations = [...new Set([...own, ...plan.additionalIps])].filter((one) => familyOf(one) === family);
    for (const protocol of Object.values(ruleProtocols)) {
      const ports = portsOf(plan, protocol, family);
      for (const sources of plan.access.sources(family)) rules.allow({ protocol, family, sources, ports, destinations });
    }
    if (plan.access.denyOthers) rules.deny(family, destinations);
  }
}

export function createSecurity({ arm, stores, settings, claims }: Cloud): Security {
  const { name, group } = settings.securityGroup;
  /** Whether an address may be a node's. Those of load balancers, and those outside that Services only name, are not. */
  async function nodeAddresses({ balancers }: Opening, signal?: AbortSignal): Promise<(address: string) => boolean> {
    const inside = balancers.flatMap(({ frontendIPConfigurations = [] }) =>
      frontendIPConfigurations.map((one) => one.privateIPAddress ?? ''),
    );
    const outside = (await frontedIps({ arm, settings }, balancers, signal)).map(({ ipAddress = '' }) => ipAddress);
    const fronts = new Set([...inside, ...outside]);
    const { network } = settings;
    const hasSubnet = network.name !== '' && network.subnet !== '';
    const subnet = hasSubnet
      ? await arm.subnet(network.group, network.name, network.subnet, signal).catch(undefinedIfAbsent)
      : undefined;
    const ranges = subnet ? prefixesOf(subnet) : [];
    return (address) => !fronts.has(address) && (isInside(address) || isWithin(address, ranges));
  }
  /** What stays at the addresses out of which a Service is taken: ports of others, and that they keep everybody else out. */
  const keptBy =
    (opening: Opening): Kept =>
    (address, protocol, port) => {
      const frontendIds = opening.clear.filter((one) => one.address === address).flatMap((one) => one.frontendIds);
      if (frontendIds.length > 0) return isOfOthers(opening, frontendIds, protocol, port);
      // Nothing in Azure says who else has an address that is not of these load balancers.
      if (isToStay(opening.next, address, protocol, port)) return true;
      const others = claims.ofOthers(opening.service, address);
      if (protocol === undefined || port === undefined) return others.some(({ deniesOthers }) => deniesOthers);
      return !ownPorts(opening, protocol).includes(port) || others.some((one) => one.has(protocol, port));
    };
  return {
    async change(opening, signal) {
      const { clear, open } = opening;
      const direct = Object.values(ruleProtocols).map((protocol) => ({ protocol, ports: directPorts(opening, protocol) }));
      const hasDirect = direct.some(({ ports }) => ports.length > 0);
      if (!open && clear.length === 0 && !hasDirect) return;
      if (name === '') throw new Error('securityGroupName is not configured');
      const isOfNode = hasDirect ? await nodeAddresses(opening, signal) : () => false;
      await stores.securityGroups.change(
        group,
        name,
        (there) => {
          if (!there) {
            if (!open) return undefined;
            throw new Error(`network security group ${name} does not exist in resource group ${group}`);
          }
          const rules = new SecurityRules(there.securityRules);
          rules.clear(
            clear.map(({ address }) => address),
            keptBy(opening),
          );
          for (const { protocol, ports } of direct) rules.clearPorts(protocol, ports, isOfNode);
          if (open) openFor(rules, open);
          const securityRules = rules.changed();
          const tags =
            Object.keys(settings.tags).length > 0 ? keptTags(there.tags, settings.tags, settings.systemTags) : there.tags;
          if (!securityRules && sameTags(tags, there.tags) && there.provisioningState !== 'Failed') return undefined;
          return { ...there, securityRules: securityRules ?? there.securityRules, tags };
        },
        signal,
      );
    },
  };
}
