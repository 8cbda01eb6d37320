// A NodeBalancer in the words of the local cloud. Throws, in the vendor's way, for what that cannot do. Pure.
import { type EmulatedBalancer, type EmulatedHealthCheck, machineOfNumber } from 'sagong/cloud-provider/emulator';
import type { FirewallRule, FirewallRules } from '../api/types.ts';
import type { Account, StoredBalancer, StoredConfig, StoredNode } from './account.ts';
import { affinitySeconds } from './limits.ts';
import { invalid } from './refusals.ts';

const unable = (field: string, what: string): Error => invalid(field, `The local cloud has no ${what}`);
const isUdp = ({ protocol }: Pick<StoredConfig, 'protocol'>): boolean => protocol === 'udp';

interface Port {
  config: StoredConfig;
  nodes: StoredNode[];
}
const [ipIn, portIn] = [
  ({ address }: StoredNode): string => address.slice(0, address.lastIndexOf(':')),
  ({ address }: StoredNode): number => Number(address.slice(address.lastIndexOf(':') + 1)),
];

/** The one value that all have. */
function common<T>(values: readonly T[], field: string, what: string): T | undefined {
  if (new Set(values).size > 1) throw unable(field, what);
  return values[0];
}

const targetOf = ({ nodes }: Port): number | undefined => common(nodes.map(portIn), 'nodes', 'ports that differ between nodes');

function listenerOf(port: Port) {
  const { config } = port;
  if (config.protocol === 'https') throw unable('protocol', 'termination of TLS');
  // Without nodes any port will do.
  return {
    protocol: isUdp(config) ? ('udp' as const) : ('tcp' as const),
    port: config.port,
    targetPort: targetOf(port) ?? config.port,
  };
}

/** The local cloud asks nodes in one way: that of the first port that has one. */
function healthOf(ports: readonly Port[]): EmulatedHealthCheck | undefined {
  for (const port of ports) {
    const { check, check_path: path, check_interval: interval, check_timeout: timeout, check_attempts: attempts } = port.config;
    const target = targetOf(port);
    if (check === 'http_body') throw unable('check', 'health checks that read answers');
    if (check === 'none' || isUdp(port.config) || target === undefined) continue;
    return {
      protocol: check === 'http' ? 'http' : 'tcp',
      port: target,
      ...(check === 'http' && path && { path }),
      intervalMs: interval * 1_000,
      timeoutMs: timeout * 1_000,
      healthyThreshold: 2,
      unhealthyThreshold: Math.max(2, Math.min(10, attempts)),
    };
  }
  return undefined;
}

const everybody = ['0.0.0.0/0'];

/** Who is let in to all ports. The local cloud has IPv4 only: ranges of IPv6 let nobody in. */
function rangesOf(rules: FirewallRules | undefined, configs: readonly StoredConfig[]): string[] {
  if (!rules) return everybody;
  const { inbound, inbound_policy: policy } = rules;
  if (inbound.some(({ action }) => action === 'DROP')) throw unable('rules.inbound', 'rules that drop');
  if (policy === 'ACCEPT') return everybody;
  const covers = ({ protocol, ports }: FirewallRule, config: StoredConfig): boolean =>
    (protocol === 'UDP') === isUdp(config) &&
    ports.split(',').some((piece) => {
      const [from = 0, to = from] = piece.split('-').map(Number);
      return from <= config.port && config.port <= to;
    });
  const lists = configs.map((config) =>
    [...new Set(inbound.filter((rule) => covers(rule, config)).flatMap(({ addresses }) => addresses.ipv4 ?? []))].sort(),
  );
  common(
    lists.map((list) => list.join()),
    'rules.inbound',
    'rules that differ between ports',
  );
  return lists[0] ?? [];
}

const isSticky = ({ algorithm, stickiness, protocol }: StoredConfig): boolean =>
  algorithm === 'source' ||
  algorithm === 'ring_hash' ||
  (protocol !== 'tcp' && ['table', 'source_ip'].includes(stickiness ?? ''));

export function balancerOf(account: Account, balancer: StoredBalancer): EmulatedBalancer {
  const configs = account.of('config').filter((one) => one.nodebalancer_id === balancer.id);
  const ports = configs.map(
    (config): Port => ({
      config,
      nodes: account.of('node').filter((node) => node.config_id === config.id),
    }),
  );
  const device = account.of('device').find((one) => one.balancer === balancer.id);
  const owners = new Map(account.of('interface').map(({ address, linode }) => [address, linode]));
  const machines = new Set(ports.flatMap(({ nodes }) => nodes.flatMap((node) => owners.get(ipIn(node)) ?? [])));
  const healthCheck = healthOf(ports);
  const told = configs.filter((config) => !isUdp(config)).map(({ proxy_protocol }) => proxy_protocol);
  return {
    key: String(balancer.id),
    kind: 'proxy',
    scheme: balancer.frontend_address_type === 'vpc' ? 'internal' : 'internet-facing',
    address: balancer.ipv4,
    listeners: ports.map(listenerOf),
    machines: [...machines].map(machineOfNumber),
    sourceRanges: rangesOf(device && account.get('firewall', device.firewall)?.rules, configs),
    ...(healthCheck && { healthCheck }),
    proxyProtocol: common(told, 'proxy_protocol', 'PROXY protocol of some ports only') ?? 'none',
    ...(configs.some(isSticky) && { affinityTimeoutSeconds: affinitySeconds }),
  };
}
