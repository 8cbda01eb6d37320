// A load balancer of either kind in the words of the local cloud. Throws, in the vendor's way, for what that cannot do. Pure.
import { affinitySeconds, type EmulatedBalancer, type EmulatedHealthCheck, rangesInAll } from 'sagong/cloud-provider/emulator';
import type { BackendSet, Listener, PortOptions } from '../api/types.ts';
import type { Account, StoredBalancer } from './account.ts';
import { invalid } from './refusals.ts';

const unable = (what: string): Error => invalid(`The local cloud has no ${what}`);

function common<T>(values: readonly T[], what: string): T | undefined {
  if (new Set(values).size > 1) throw unable(what);
  return values[0];
}

type Protocol = 'tcp' | 'udp';
const protocolNumbers = { tcp: '6', udp: '17' } as const;

interface Opening {
  protocol: string;
  source?: string;
  tcpOptions?: PortOptions;
  udpOptions?: PortOptions;
}

/** What security lists of its subnets, and its groups, let in. */
function openingsOf(account: Account, { subnetIds, networkSecurityGroupIds }: StoredBalancer): Opening[] {
  const lists = subnetIds.flatMap((id) => account.get('subnet', id)?.securityListIds ?? []);
  return [
    ...lists.flatMap((id) => account.get('list', id)?.ingressSecurityRules ?? []),
    ...account
      .of('groupRule')
      .filter(({ group, direction }) => direction === 'INGRESS' && networkSecurityGroupIds.includes(group)),
  ];
}

function rangesOf(openings: readonly Opening[], protocol: Protocol, port: number): string[] {
  const lets = (rule: Opening): boolean => {
    if (rule.protocol === 'all') return true;
    const range = rule[`${protocol}Options`]?.destinationPortRange;
    return rule.protocol === protocolNumbers[protocol] && (!range || (range.min <= port && port <= range.max));
  };
  const sources = openings.filter(lets).flatMap(({ source = '' }) => (/^[\d.]+\//.test(source) ? [source] : []));
  return [...new Set(sources)].sort();
}

function protocolsOf({ protocol, sslConfiguration, ipVersion }: Listener): Protocol[] {
  if (sslConfiguration) throw unable('termination of TLS');
  if (ipVersion === 'IPV6') throw unable('IPv6');
  if (protocol === 'TCP_AND_UDP') return ['tcp', 'udp'];
  if (protocol === 'UDP') return ['udp'];
  if (protocol === 'ANY' || protocol === 'L3IP') throw unable(`protocol ${protocol}`);
  return ['tcp'];
}

const targetOf = (set: BackendSet | undefined): number | undefined =>
  common(
    (set?.backends ?? []).map(({ port }) => port),
    'ports that differ between backends',
  );

function healthOf({ healthChecker: check }: BackendSet): EmulatedHealthCheck | undefined {
  const { protocol, port, urlPath = '/', intervalInMillis = 10_000, timeoutInMillis = 3_000, retries = 3 } = check;
  if (!['HTTP', 'HTTPS', 'TCP'].includes(protocol)) throw unable(`health checks of protocol ${protocol}`);
  // 0: that of each backend.
  if (port === 0) return undefined;
  return {
    protocol: protocol.toLowerCase() as EmulatedHealthCheck['protocol'],
    port,
    ...(protocol !== 'TCP' && { path: urlPath }),
    intervalMs: intervalInMillis,
    timeoutMs: timeoutInMillis,
    healthyThreshold: 1,
    unhealthyThreshold: Math.max(1, retries),
  };
}

function proxyProtocolOf({ listeners }: StoredBalancer): EmulatedBalancer['proxyProtocol'] {
  const told = Object.values(listeners).map(({ isPpv2Enabled, connectionConfiguration }) => {
    const version = isPpv2Enabled ? 2 : connectionConfiguration?.backendTcpProxyProtocolVersion;
    return version === undefined ? 'none' : (`v${version}` as 'v1' | 'v2');
  });
  return common(told, 'PROXY protocol of some listeners only') ?? 'none';
}

/** `machineAt`: the machine with an address, or of an instance. */
export function balancerOf(
  account: Account,
  balancer: StoredBalancer,
  machineAt: (addressOrInstance: string) => string | undefined,
): EmulatedBalancer {
  const openings = openingsOf(account, balancer);
  const sets = Object.values(balancer.listeners).map((listener) => balancer.backendSets[listener.defaultBackendSetName]);
  const listeners = Object.values(balancer.listeners).flatMap((listener, index) =>
    protocolsOf(listener).map((protocol) => ({
      protocol,
      port: listener.port,
      // Without backends any port will do.
      targetPort: targetOf(sets[index]) ?? listener.port,
    })),
  );
  const ranges = listeners.map(({ protocol, port }) => rangesOf(openings, protocol, port));
  const backends = sets.flatMap((set) => set?.backends ?? []);
  const health = sets[0] && healthOf(sets[0]);
  const isSticky = sets.some((set) => ['IP_HASH', 'THREE_TUPLE', 'TWO_TUPLE'].includes(set?.policy ?? ''));
  const [{ ipAddress: address } = {}] = balancer.ipAddresses;
  return {
    key: balancer.id.slice(-8),
    kind: 'proxy',
    scheme: balancer.isPrivate ? 'internal' : 'internet-facing',
    ...(address !== undefined && { address }),
    listeners,
    machines: [...new Set(backends.flatMap(({ ipAddress, targetId }) => machineAt(targetId ?? ipAddress ?? '') ?? []))],
    sourceRanges: rangesInAll(ranges),
    ...(health && { healthCheck: health }),
    proxyProtocol: proxyProtocolOf(balancer),
    ...(isSticky && { affinityTimeoutSeconds: affinitySeconds }),
  };
}
