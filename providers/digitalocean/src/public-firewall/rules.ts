// The rules of the public access firewall: what of the worker nodes may be reached from the internet so that Services work. Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotationOf, annotations, booleanOf } from '../annotations.ts';
import type { Firewall, FirewallRequest, FirewallTarget, InboundRule, LoadBalancerType, OutboundRule } from '../api/types.ts';
import { healthCheckFor } from '../load-balancer/health-check.ts';
import { networkOf, typeOf } from '../load-balancer/network.ts';

const anywhere = ['0.0.0.0/0', '::/0'];

const outboundRules: OutboundRule[] = [
  { protocol: 'tcp', ports: 'all', destinations: { addresses: anywhere } },
  { protocol: 'udp', ports: 'all', destinations: { addresses: anywhere } },
  { protocol: 'icmp', destinations: { addresses: anywhere } },
];

const protocolOf = (protocol = 'TCP'): 'tcp' | 'udp' | undefined =>
  protocol === 'TCP' ? 'tcp' : protocol === 'UDP' ? 'udp' : undefined;

/** An unusable value counts as managed. */
function isManaged(service: Service): boolean {
  try {
    return booleanOf(service, annotations.firewallManaged) ?? true;
  } catch {
    return true;
  }
}

function rulesOfPorts(service: Service, port: 'port' | 'nodePort'): InboundRule[] {
  return (service.spec?.ports ?? []).flatMap((entry) => {
    const protocol = protocolOf(entry.protocol);
    const number = entry[port];
    return protocol && number ? [{ protocol, ports: String(number), sources: { addresses: anywhere } }] : [];
  });
}

/** What one Service needs open. Throws for a load balancer that is refused, because of what its annotations say. */
export function rulesOf(service: Service, defaultType: LoadBalancerType): InboundRule[] {
  const type = service.spec?.type;
  if (type === 'NodePort') return isManaged(service) ? rulesOfPorts(service, 'nodePort') : [];
  if (type !== 'LoadBalancer' || typeOf(service, defaultType) !== 'REGIONAL_NETWORK' || networkOf(service) !== 'EXTERNAL')
    return [];
  // Its packets arrive with the addresses of the clients; only its health checks are its own.
  const id = annotationOf(service, annotations.id);
  const sources: FirewallTarget = id ? { load_balancer_uids: [id] } : { addresses: anywhere };
  const check: InboundRule = { protocol: 'tcp', ports: String(healthCheckFor(service).port), sources };
  return [check, ...rulesOfPorts(service, 'port')];
}

/** One text for rules that mean the same: the API answers "0" where "all" or nothing was asked for. */
function textOf({ protocol, ports, ...rule }: InboundRule | OutboundRule): string {
  const target = 'sources' in rule ? rule.sources : rule.destinations;
  const shown = (values: string[] | null | undefined): string => [...(values ?? [])].sort().join(' ');
  const range = ports === undefined || ports === '' || ports === 'all' ? '0' : ports;
  return [protocol, range, shown(target.addresses), shown(target.load_balancer_uids)].join('|');
}

const byText = (a: InboundRule, b: InboundRule): number => (textOf(a) < textOf(b) ? -1 : 1);

/** The firewall that these Services need. */
export function firewallFor(
  services: readonly Service[],
  { name, tags, defaultType }: { name: string; tags: readonly string[]; defaultType: LoadBalancerType },
): FirewallRequest {
  const rules = services.flatMap((service) => {
    try {
      return rulesOf(service, defaultType);
    } catch {
      // Its load balancer is refused, with an event that says why; it needs nothing open, and others go on.
      return [];
    }
  });
  const distinct = new Map(rules.map((rule) => [textOf(rule), rule]));
  return {
    name,
    inbound_rules: [...distinct.values()].sort(byText),
    outbound_rules: outboundRules,
    tags: [...tags],
  };
}

/** Whether the firewall that is there says what is wanted. */
export function isAsWanted(existing: Firewall, wanted: FirewallRequest): boolean {
  const shape = ({ name, inbound_rules, outbound_rules, tags }: Firewall | FirewallRequest): string =>
    JSON.stringify([
      name,
      (inbound_rules ?? []).map(textOf).sort(),
      (outbound_rules ?? []).map(textOf).sort(),
      [...(tags ?? [])].sort(),
    ]);
  return shape(existing) === shape(wanted);
}
