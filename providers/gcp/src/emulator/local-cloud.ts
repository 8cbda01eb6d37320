// Forwarding rules in the words of the local cloud: those of one address are one load balancer, whose clients are those that firewalls let in. Throws, in the
// vendor's way, for what the local cloud cannot do. Pure.
import {
  affinitySeconds,
  type EmulatedBalancer,
  type EmulatedHealthCheck,
  type EmulatedRoute,
} from 'sagong/cloud-provider/emulator';
import { portsOfRuleMax } from './limits.ts';
import type { Projects } from './project.ts';
import { invalid } from './refusals.ts';
import { pathIn, type Resource } from './resource.ts';

/** IDs of machines by the link to their instance; undefined: it is gone. */
export type MachineOf = (link: unknown) => string | undefined;

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const unable = (field: string, what: string): Error => invalid(field, what, 'is nothing that the local cloud has');
const at = (projects: Projects, link: unknown): Resource | undefined => projects.get(pathIn(link, ''));

interface Open {
  protocol: string;
  from: number;
  to: number;
  ranges: string[];
}
const spanOf = (text: string): [number, number] => {
  const [from = 0, to = from] = text.split('-').map(Number);
  return [from, to];
};

/** What firewalls let through to an address. */
function openings(projects: Projects, address: string): Open[] {
  const isFor = (rule: Resource): boolean => {
    const destinations = texts(rule['destinationRanges']).map((range) => range.split('/')[0]);
    return (
      rule['disabled'] !== true &&
      rule['direction'] === 'INGRESS' &&
      (destinations.length === 0 || destinations.includes(address))
    );
  };
  return projects
    .of('firewall')
    .filter(isFor)
    .flatMap((rule) =>
      ((rule['allowed'] ?? []) as { IPProtocol: string; ports?: string[] }[]).flatMap(({ IPProtocol, ports = ['0-65535'] }) =>
        ports.map((port) => {
          const [from, to] = spanOf(port);
          return { protocol: IPProtocol.toLowerCase(), from, to, ranges: texts(rule['sourceRanges']) };
        }),
      ),
    );
}

interface Port {
  protocol: 'tcp' | 'udp';
  port: number;
  ranges: string[];
}

const isEverything = ({ from, to }: Open): boolean => from <= 1 && to === 65_535;

/** The ports that a rule takes and firewalls let through, one by one. */
function portsOf(rule: Resource, open: readonly Open[]): Port[] {
  if (rule['allPorts'] === true) throw unable('resource.allPorts', 'all ports');
  const protocol = String(rule['IPProtocol']).toLowerCase() as Port['protocol'];
  const spans = (rule['ports'] === undefined ? [String(rule['portRange'])] : texts(rule['ports'])).map(spanOf);
  const numbers = new Map<number, string[]>();
  for (const [low, high] of spans)
    for (const opening of open) {
      // A firewall that is open to everything says nothing about the single ports of a span.
      if (opening.protocol !== protocol || (isEverything(opening) && high !== low)) continue;
      const [first, last] = [Math.max(low, opening.from), Math.min(high, opening.to)];
      if (last - first >= portsOfRuleMax) throw unable('resource.portRange', `${last - first + 1} ports of one rule`);
      for (let port = first; port <= last; port++)
        numbers.set(port, [...new Set([...(numbers.get(port) ?? []), ...opening.ranges])].sort());
    }
  return [...numbers].map(([port, ranges]) => ({ protocol, port, ranges }));
}

/** Links to the instances behind a rule, its health check, and how it keeps clients. */
function behind(projects: Projects, rule: Resource): { members: string[]; check: Resource | undefined; affinity: unknown } {
  const pool = at(projects, rule['target']);
  if (pool) {
    const [check] = texts(pool['healthChecks']);
    return { members: texts(pool['instances']), check: at(projects, check), affinity: pool['sessionAffinity'] };
  }
  const service = at(projects, rule['backendService']);
  const groups = ((service?.['backends'] ?? []) as { group: string }[]).map(({ group }) => at(projects, group));
  const [check] = texts(service?.['healthChecks']);
  const members = groups.flatMap((group) => texts(group?.['members']));
  return { members, check: at(projects, check), affinity: service?.['sessionAffinity'] };
}

function healthOf(check: Resource | undefined): EmulatedHealthCheck | undefined {
  if (!check) return undefined;
  const type = check.kind === 'compute#httpHealthCheck' ? 'HTTP' : String(check['type']);
  if (type !== 'HTTP' && type !== 'HTTPS' && type !== 'TCP') throw unable('resource.type', `a health check of type ${type}`);
  const how = type === 'HTTP' && check['type'] === undefined ? check : check[`${type.toLowerCase()}HealthCheck`];
  const { port = 80, requestPath } = how as { port?: number; requestPath?: string };
  return {
    protocol: type.toLowerCase() as EmulatedHealthCheck['protocol'],
    port,
    ...(type !== 'TCP' && { path: requestPath ?? '/' }),
    intervalMs: Number(check['checkIntervalSec']) * 1_000,
    timeoutMs: Number(check['timeoutSec']) * 1_000,
    healthyThreshold: Number(check['healthyThreshold']),
    unhealthyThreshold: Number(check['unhealthyThreshold']),
  };
}

function balancerAt(projects: Projects, address: string, rules: readonly Resource[], machineOf: MachineOf): EmulatedBalancer {
  const open = openings(projects, address);
  const ports = rules.flatMap((rule) => portsOf(rule, open));
  const pieces = rules.map((rule) => behind(projects, rule));
  const [{ ranges = [] } = {}] = ports;
  if (ports.some((port) => port.ranges.join() !== ranges.join()))
    throw unable('resource.sourceRanges', 'ranges that differ between ports');
  const health = healthOf(pieces[0]?.check);
  const isSticky = pieces.some(({ affinity }) => String(affinity).startsWith('CLIENT_IP'));
  // A rule that no firewall lets through has its address, and nobody reaches it.
  const closed = rules.map((rule) => ({
    protocol: String(rule['IPProtocol']).toLowerCase() as Port['protocol'],
    port: spanOf(texts(rule['ports'])[0] ?? String(rule['portRange']))[0],
  }));
  return {
    key: address.replaceAll('.', '-'),
    kind: 'network',
    scheme: rules[0]?.['loadBalancingScheme'] === 'INTERNAL' ? 'internal' : 'internet-facing',
    address,
    listeners: ports.length > 0 ? ports.map(({ protocol, port }) => ({ protocol, port })) : closed,
    machines: [...new Set(pieces.flatMap(({ members }) => members.flatMap((link) => machineOf(link) ?? [])))],
    sourceRanges: ranges.filter((range) => !range.includes(':')),
    ...(health && { healthCheck: health }),
    proxyProtocol: 'none',
    ...(isSticky && { affinityTimeoutSeconds: affinitySeconds }),
  };
}

export function balancersOf(projects: Projects, machineOf: MachineOf): EmulatedBalancer[] {
  const rules = projects.of('forwardingRule');
  const addresses = new Set(rules.map((rule) => String(rule['IPAddress'])));
  return [...addresses].map((address) =>
    balancerAt(
      projects,
      address,
      rules.filter((rule) => rule['IPAddress'] === address),
      machineOf,
    ),
  );
}

/** The routes that lead to instances that exist. The local cloud has IPv4 only. */
export const routesOf = (projects: Projects, machineOf: MachineOf): EmulatedRoute[] =>
  projects.of('route').flatMap((route) => {
    const machine = machineOf(route['nextHopInstance']);
    const destination = String(route['destRange']);
    if (destination.includes(':')) throw unable('resource.destRange', 'IPv6');
    return machine === undefined ? [] : [{ destination, machine }];
  });
