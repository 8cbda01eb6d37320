// Load balancers in the words of the local cloud: each frontend is one. Throws, in the vendor's way, for what the local cloud cannot do. Pure.
import {
  affinitySeconds,
  type EmulatedBalancer,
  type EmulatedHealthCheck,
  type EmulatedRoute,
  rangesInAll,
} from 'sagong/cloud-provider/emulator';
import { Refusal } from 'sagong/cloud-provider/test-server';
import { idOf, type Part, partsOf, type Resource } from './resource.ts';
import { letIn } from './security.ts';
import type { Subscription } from './subscription.ts';

/** Private address of a machine by the ID of an IP configuration of its network interface. */
export interface Place {
  subscription: Subscription;
  securityGroup: string;
  /** Ranges of the virtual network. */
  cidrs: readonly string[];
  /** ID of the machine with a private address. */
  machineAt(address: string): string | undefined;
}

const unable = (what: string): Refusal => new Refusal(400, 'NotSupportedByLocalCloud', `The local cloud has no ${what}.`);

function common<T>(values: readonly T[], what: string): T | undefined {
  if (new Set(values).size > 1) throw unable(what);
  return values[0];
}

const named = (balancer: Resource, list: string, id: string): Part | undefined =>
  partsOf(balancer, list).find((part) => part.id?.toLowerCase() === id);

/** Private addresses of a pool: of network interfaces that name it, and those that it lists. */
function poolAddresses({ subscription }: Place, pool: Part | undefined): string[] {
  const configs = subscription.configsIn(pool?.id ?? '').flatMap((id) => {
    const card = subscription.get(id.replace(/\/ipConfigurations\/.*/i, ''));
    const config = partsOf(card, 'ipConfigurations').find((part) => part.id?.toLowerCase() === id.toLowerCase());
    return config?.properties?.['privateIPAddress'] as string | undefined;
  });
  const listed = (pool?.properties?.['loadBalancerBackendAddresses'] ?? []) as { properties?: { ipAddress?: string } }[];
  return [...configs, ...listed.map(({ properties }) => properties?.ipAddress)].filter((address) => address !== undefined);
}

interface Rule {
  protocol: 'tcp' | 'udp';
  port: number;
  backendPort: number;
  isFloating: boolean;
  isSticky: boolean;
  backends: string[];
  probe: Part | undefined;
}

function ruleOf(place: Place, balancer: Resource, { properties = {} }: Part): Rule {
  const protocol = String(properties['protocol']).toLowerCase();
  if (protocol !== 'tcp' && protocol !== 'udp') throw unable('rules for all ports');
  return {
    protocol,
    port: Number(properties['frontendPort']),
    backendPort: Number(properties['backendPort']),
    isFloating: properties['enableFloatingIP'] === true,
    isSticky: String(properties['loadDistribution'] ?? 'Default').startsWith('SourceIP'),
    backends: poolAddresses(place, named(balancer, 'backendAddressPools', idOf(properties['backendAddressPool']))),
    probe: named(balancer, 'probes', idOf(properties['probe'])),
  };
}

function healthOf(rules: readonly Rule[]): EmulatedHealthCheck | undefined {
  const { properties } = rules.find(({ probe }) => probe)?.probe ?? {};
  if (!properties) return undefined;
  const { protocol, port, requestPath, intervalInSeconds, probeThreshold, numberOfProbes } = properties as Record<
    string,
    unknown
  >;
  const how = String(protocol).toLowerCase() as EmulatedHealthCheck['protocol'];
  const threshold = Number(probeThreshold ?? numberOfProbes ?? 2);
  return {
    protocol: how,
    port: Number(port),
    ...(how !== 'tcp' && { path: String(requestPath) }),
    intervalMs: Number(intervalInSeconds) * 1_000,
    timeoutMs: Number(intervalInSeconds) * 1_000,
    healthyThreshold: 1,
    unhealthyThreshold: threshold,
  };
}

/** The address of a frontend, public or private. */
export function addressOf(subscription: Subscription, { properties = {} }: Part): { address: string; isPublic: boolean } {
  const ip = subscription.get(idOf(properties['publicIPAddress']));
  if (ip) return { address: String(ip.properties['ipAddress']), isPublic: true };
  if (properties['privateIPAddressVersion'] === 'IPv6') throw unable('IPv6');
  return { address: String(properties['privateIPAddress']), isPublic: false };
}

/** Prefixes of the virtual network, and those that are routed in it. */
const networkOf = ({ subscription, cidrs }: Place): string[] => [
  ...cidrs,
  ...subscription
    .of('Microsoft.Network/routeTables')
    .flatMap((table) => partsOf(table, 'routes').map(({ properties }) => String(properties?.['addressPrefix']))),
];

function frontendBalancer(place: Place, balancer: Resource, frontend: Part): EmulatedBalancer {
  const { subscription, securityGroup, machineAt } = place;
  const { address, isPublic } = addressOf(subscription, frontend);
  const rules = partsOf(balancer, 'loadBalancingRules')
    .filter(({ properties }) => idOf(properties?.['frontendIPConfiguration']) === frontend.id?.toLowerCase())
    .map((rule) => ruleOf(place, balancer, rule));
  const isFloating = common(
    rules.map((rule) => rule.isFloating),
    'frontend with and without floating addresses',
  );
  const network = networkOf(place);
  const group = subscription.get(securityGroup);
  // With a floating address packets reach nodes as they came; else they are for a node.
  const targets = rules.map(({ protocol, port, backendPort, backends }) =>
    isFloating ? { protocol, port, address } : { protocol, port: backendPort, address: backends[0] ?? '0.0.0.0' },
  );
  const health = healthOf(rules);
  return {
    key: address.replaceAll('.', '-'),
    kind: isFloating === false ? 'proxy' : 'network',
    scheme: isPublic ? 'internet-facing' : 'internal',
    address,
    listeners: rules.map(({ protocol, port, backendPort }) => ({
      protocol,
      port,
      ...(!isFloating && { targetPort: backendPort }),
    })),
    machines: [...new Set(rules.flatMap(({ backends }) => backends.flatMap((backend) => machineAt(backend) ?? [])))],
    sourceRanges: rangesInAll(targets.map((target) => letIn(group, target, network, !isPublic))),
    ...(health && { healthCheck: health }),
    proxyProtocol: 'none',
    ...(rules.some(({ isSticky }) => isSticky) && { affinityTimeoutSeconds: affinitySeconds }),
  };
}

export const balancersOf = (place: Place): EmulatedBalancer[] =>
  place.subscription.of('Microsoft.Network/loadBalancers').flatMap((balancer) => {
    if (partsOf(balancer, 'inboundNatRules').length > 0) throw unable('inbound NAT rules');
    return partsOf(balancer, 'frontendIPConfigurations').map((frontend) => frontendBalancer(place, balancer, frontend));
  });

/** The routes that lead to machines that exist. */
export const routesOf = ({ subscription, machineAt }: Place): EmulatedRoute[] =>
  subscription.of('Microsoft.Network/routeTables').flatMap((table) =>
    partsOf(table, 'routes').flatMap(({ properties = {} }) => {
      const destination = String(properties['addressPrefix']);
      if (destination.includes(':')) throw unable('IPv6');
      if (properties['nextHopType'] !== 'VirtualAppliance') throw unable(`routes to ${String(properties['nextHopType'])}`);
      const machine = machineAt(String(properties['nextHopIpAddress']));
      return machine === undefined ? [] : [{ destination, machine }];
    }),
  );
