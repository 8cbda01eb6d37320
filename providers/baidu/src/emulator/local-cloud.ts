// A BLB with its EIP, listeners, backend servers and security groups, and rules of the route table, in the words of the local cloud. Throws, in the vendor's way,
// for what that cannot do. Pure.
import {
  affinitySeconds,
  type EmulatedBalancer,
  type EmulatedHealthCheck,
  type EmulatedRoute,
  rangesInAll,
} from 'sagong/cloud-provider/emulator';
import type { GroupRule } from '../api/types.ts';
import type { Account, StoredBalancer, StoredListener } from './account.ts';
import { invalid } from './refusals.ts';

const unable = (what: string): Error => invalid(`the local cloud has no ${what}`);

function protocolOf({ kind }: StoredListener): 'tcp' | 'udp' {
  if (kind === 'HTTPS' || kind === 'SSL') throw unable('termination of TLS');
  return kind === 'UDP' ? 'udp' : 'tcp';
}

const healthOf = (listener: StoredListener): EmulatedHealthCheck => ({
  protocol: 'tcp',
  port: listener.backendPort,
  intervalMs: listener.healthCheckInterval * 1_000,
  timeoutMs: listener.healthCheckTimeoutInSecond * 1_000,
  healthyThreshold: listener.healthyThreshold,
  unhealthyThreshold: listener.unhealthyThreshold,
});

/** Everybody, unless security groups are bound: then those whom one of them lets in to the port. */
function rangesOf(account: Account, { groups }: StoredBalancer, listener: StoredListener): string[] {
  if (groups.length === 0) return ['0.0.0.0/0'];
  const lets = ({ direction, ethertype, protocol, portRange }: GroupRule): boolean => {
    const [from = 1, to = from] = portRange === '' ? [1, 65_535] : portRange.split('-').map(Number);
    const fits = protocol === '' || protocol === 'all' || protocol === protocolOf(listener);
    return (
      direction === 'ingress' && ethertype === 'IPv4' && fits && from <= listener.listenerPort && listener.listenerPort <= to
    );
  };
  const rules = groups.flatMap((id) => account.get('group', id)?.rules ?? []).filter(lets);
  return [...new Set(rules.map(({ sourceIp }) => (/^(all|)$/.test(sourceIp) ? '0.0.0.0/0' : sourceIp)))].sort();
}

export function balancerOf(account: Account, balancer: StoredBalancer): EmulatedBalancer {
  const { blbId, address } = balancer;
  const listeners = account.of('listener').filter((one) => one.blbId === blbId);
  const bound = account.eipOf(blbId);
  const checked = listeners.find((one) => protocolOf(one) === 'tcp');
  return {
    key: blbId,
    kind: 'proxy',
    scheme: bound ? 'internet-facing' : 'internal',
    address: bound?.eip ?? address,
    listeners: listeners.map((one) => ({ protocol: protocolOf(one), port: one.listenerPort, targetPort: one.backendPort })),
    machines: account.of('backend').flatMap((one) => (one.blbId === blbId && one.weight > 0 ? [one.instanceId] : [])),
    sourceRanges: rangesInAll(listeners.map((one) => rangesOf(account, balancer, one))),
    ...(checked && { healthCheck: healthOf(checked) }),
    proxyProtocol: 'none',
    ...(listeners.some(({ scheduler }) => scheduler === 'Hash') && { affinityTimeoutSeconds: affinitySeconds }),
  };
}

/** The routes that lead to instances that exist. */
export const routesOf = (account: Account): EmulatedRoute[] =>
  account.of('rule').flatMap(({ destinationAddress: destination, sourceAddress, nexthopType, nexthopId: machine }) => {
    if (destination.includes(':')) throw unable('IPv6');
    if (sourceAddress !== '0.0.0.0/0') throw unable('routes by source');
    if (nexthopType !== 'custom') throw unable(`routes to ${nexthopType}`);
    return account.get('instance', machine) ? [{ destination, machine }] : [];
  });
