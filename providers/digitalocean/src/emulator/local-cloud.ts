// A load balancer of DigitalOcean in the words of the local cloud. Throws, in the vendor's way, for what that cannot do. Pure.
import { type EmulatedBalancer, type EmulatedHealthCheck, machineOfNumber } from 'sagong/cloud-provider/emulator';
import type { LoadBalancer } from './account.ts';
import { unprocessable } from './refusal.ts';

interface Rule {
  entry_protocol: string;
  entry_port: number;
  target_protocol: string;
  target_port: number;
}
interface Check {
  protocol: EmulatedHealthCheck['protocol'];
  port: number;
  path?: string;
  check_interval_seconds: number;
  response_timeout_seconds: number;
  unhealthy_threshold: number;
  healthy_threshold: number;
}

const unable = (what: string): Error => unprocessable(`the local cloud has no ${what}`);

function listenerOf(isNetwork: boolean, { entry_protocol: entry, entry_port: port, target_port: targetPort }: Rule) {
  if (entry === 'http3') throw unable('HTTP/3');
  if (isNetwork && targetPort !== port) throw unable('network load balancer with another target port');
  return { protocol: entry === 'udp' ? ('udp' as const) : ('tcp' as const), port, ...(!isNetwork && { targetPort }) };
}

function healthOf({ protocol, port, path, ...check }: Check): EmulatedHealthCheck {
  return {
    protocol,
    port,
    ...(protocol !== 'tcp' && path && { path }),
    intervalMs: check.check_interval_seconds * 1000,
    timeoutMs: check.response_timeout_seconds * 1000,
    healthyThreshold: check.healthy_threshold,
    unhealthyThreshold: check.unhealthy_threshold,
  };
}

/** `ip:192.0.2.1`, `cidr:192.0.2.0/24`. */
function rangeOf(rule: string): string {
  const [kind = '', range = ''] = rule.split(/:(.*)/s);
  if (range.includes(':')) throw unable('IPv6');
  return kind === 'ip' ? `${range}/32` : range;
}

/** A load balancer of the local cloud as the emulator shows it. `address` is one that its owner already has. */
export function balancerOf(balancer: LoadBalancer, address: string | undefined): EmulatedBalancer {
  const isNetwork = balancer['type'] === 'REGIONAL_NETWORK';
  const { allow, deny } = balancer['firewall'] as { allow: string[]; deny: string[] };
  const isTold = balancer['enable_proxy_protocol'] === true;
  if (balancer['type'] === 'GLOBAL') throw unable('global load balancers');
  if (deny.length > 0) throw unable('deny rules');
  if (isNetwork && isTold) throw unable('PROXY protocol of network load balancers');
  return {
    key: balancer.id,
    kind: isNetwork ? 'network' : 'proxy',
    scheme: balancer['network'] === 'INTERNAL' ? 'internal' : 'internet-facing',
    ...(address !== undefined && { address }),
    listeners: (balancer['forwarding_rules'] as Rule[]).map((rule) => listenerOf(isNetwork, rule)),
    machines: balancer.droplet_ids.map(machineOfNumber),
    sourceRanges: allow.length > 0 ? allow.map(rangeOf) : ['0.0.0.0/0'],
    healthCheck: healthOf(balancer['health_check'] as Check),
    proxyProtocol: isTold ? 'v1' : 'none',
  };
}
