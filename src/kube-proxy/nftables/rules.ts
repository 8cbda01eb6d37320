// What one service port has in the maps, and the chains that its verdicts lead to. Pure: services and endpoints in, elements out. Which endpoints traffic may
// reach is decided in model.ts; the cases are those of the iptables mode.
import { cidrText, type IPPrefix, parseCIDR } from '#apimachinery/validation';
import { endpointChain, serviceChains } from '../chain-names.ts';
import { ownSources } from '../own-sources.ts';
import type { DataplaneOptions } from '../dataplane.ts';
import type { ProxyEndpoint, ServiceEndpoints, ServicePort } from '../model.ts';
import { type Declaration, endpointsOf } from './base.ts';

export interface NftRules {
  /** By map or set, then by key; with the value, or '' in a set. */
  elements: Record<string, Record<string, string>>;
  /** Rules by chain. Chains of one name have the same rules, whoever needs them. */
  chains: Record<string, readonly string[]>;
  /** Maps and sets that are there while a port needs them, with their declaration. */
  sets: Record<string, Declaration>;
}

/** Where clients come in: an address, or every address of the node. */
type Front = { ip: string } | 'node';

/** Without what is a part of another: a set of ranges takes none that overlap. */
function outermost(sources: readonly string[]): string[] {
  const ranges = sources.flatMap((source) => parseCIDR(source.includes('/') ? source : `${source}/32`) ?? []);
  const known = ranges.filter(({ network }) => network.family === 4);
  const holds = (outer: IPPrefix, inner: IPPrefix): boolean => {
    const rest = BigInt(32 - outer.length);
    return outer.length <= inner.length && outer.network.value >> rest === inner.network.value >> rest;
  };
  const alone = known.filter(
    (one, at) => !known.some((other, index) => index !== at && holds(other, one) && (index < at || !holds(one, other))),
  );
  return alone.map(cidrText);
}

const anyProtocol = 'meta l4proto { tcp, udp, sctp }';

class Builder {
  readonly rules: NftRules = { elements: {}, chains: {}, sets: {} };
  readonly #port: ServicePort;
  readonly #options: DataplaneOptions;
  constructor(port: ServicePort, options: DataplaneOptions) {
    this.#port = port;
    this.#options = options;
  }
  #key(front: Front): string {
    const { protocol, port, nodePort } = this.#port;
    const proto = protocol.toLowerCase();
    return front === 'node' ? `${proto} . ${nodePort}` : `${front.ip} . ${proto} . ${port}`;
  }
  add(set: string, key: string, value = ''): void {
    (this.rules.elements[set] ??= {})[key] = value;
  }
  #chain(name: string, rules: readonly string[]): string {
    this.rules.chains[name] = rules;
    return name;
  }
  /** New connections to `front` go to `chain`. */
  serve(front: Front, chain: string): void {
    this.add(front === 'node' ? 'service-nodeports' : 'service-ips', this.#key(front), `goto ${chain}`);
  }
  /** What was sent nowhere is refused, or dropped where there are endpoints elsewhere. */
  refuse(front: Front, isKnown: boolean): void {
    const set = front === 'node' ? 'no-endpoint-nodeports' : 'no-endpoint-services';
    this.add(set, this.#key(front), `goto ${isKnown ? 'drop-chain' : 'reject-chain'}`);
  }
  /** Only these sources get to `ip`. */
  limit(ip: string, sources: readonly string[]): void {
    this.add('firewall-ips', this.#key({ ip }));
    for (const source of outermost(sources)) this.add('firewall-allowed', `${this.#key({ ip })} . ${source}`);
  }
  /** A chain that spreads connections over the endpoints. */
  #pick(front: Front, endpoints: readonly ProxyEndpoint[], isLocal: boolean): string {
    for (const { ip } of endpoints) this.add('hairpin-connections', `${ip} . ${ip}`);
    if (this.#port.affinitySeconds > 0) return this.#sticky(endpoints, isLocal);
    const [node, local] = [front === 'node' ? 'nodeport-' : '', isLocal ? 'local-' : ''];
    // Each number of endpoints has a map of its own: nft refuses a rule that sends to ports out of a map which an earlier transaction made.
    const map = `${node}${local}endpoints-${endpoints.length}`;
    this.rules.sets[map] = endpointsOf[front === 'node' ? 'node' : 'ip'];
    endpoints.forEach(({ ip, port }, index) => this.add(map, `${this.#key(front)} . ${index}`, `${ip} . ${port}`));
    const asked = `${front === 'node' ? '' : 'ip daddr . '}meta l4proto . th dport . numgen random mod ${endpoints.length}`;
    return this.#chain(`${node}pick-${local}${endpoints.length}`, [`${anyProtocol} dnat ip to ${asked} map @${map}`]);
  }
  /** With session affinity each endpoint remembers its clients, so these few services have chains of their own. */
  #sticky(endpoints: readonly ProxyEndpoint[], isLocal: boolean): string {
    const { affinitySeconds, protocol } = this.#port;
    const names = endpoints.map((endpoint) => {
      const name = endpointChain(this.#port, endpoint.address);
      const clients = `clients-${affinitySeconds}-${name}`;
      this.rules.sets[clients] = ['set', `type ipv4_addr; flags dynamic,timeout; timeout ${affinitySeconds}s; size 65535;`];
      this.#chain(name, [
        `update @${clients} { ip saddr }`,
        `meta l4proto ${protocol.toLowerCase()} dnat to ${endpoint.ip}:${endpoint.port}`,
      ]);
      return { name, clients };
    });
    const { cluster, local } = serviceChains(this.#port);
    const verdicts = names.map(({ name }, index) => `${index} : goto ${name}`).join(', ');
    return this.#chain(isLocal ? local : cluster, [
      ...names.map(({ name, clients }) => `ip saddr @${clients} goto ${name}`),
      `numgen random mod ${names.length} vmap { ${verdicts} }`,
    ]);
  }
  /** To the cluster address: pods keep their address, what comes from elsewhere is masqueraded. */
  internal(front: Front, endpoints: readonly ProxyEndpoint[], isLocal: boolean): string {
    const { masqueradeAll, clusterCidr } = this.#options;
    const pick = this.#pick(front, endpoints, isLocal);
    if (!masqueradeAll && !clusterCidr) return pick;
    const from = masqueradeAll ? '' : `ip saddr != ${clusterCidr} `;
    return this.#chain(`internal-${pick}`, [`${from}jump mark-for-masquerade`, `goto ${pick}`]);
  }
  /** From outside: policy Cluster hides the client's address; policy Local keeps it, except for what the node sends, and stays on the node. */
  external(front: Front, { cluster, local }: ServiceEndpoints): string {
    const pick = this.#pick(front, cluster, false);
    if (!this.#port.externalLocal) return this.#chain(`external-${pick}`, ['jump mark-for-masquerade', `goto ${pick}`]);
    const own = local.length > 0 ? this.#pick(front, local, true) : '';
    const { clusterCidr } = this.#options;
    return this.#chain(`external-${pick}-${own || 'none'}`, [
      ...(clusterCidr ? [`ip saddr ${clusterCidr} goto ${pick}`] : []),
      'fib saddr type local jump mark-for-masquerade',
      `fib saddr type local goto ${pick}`,
      ...(own === '' ? [] : [`goto ${own}`]),
    ]);
  }
}

/** Everything of one service port. `nodeAddress` is this node's, when it is known. */
export function nftRules(
  port: ServicePort,
  endpoints: ServiceEndpoints,
  options: DataplaneOptions,
  nodeAddress?: string,
): NftRules {
  const builder = new Builder(port, options);
  const isKnown = endpoints.cluster.length > 0;
  const internal = port.internalLocal ? endpoints.local : endpoints.cluster;
  const inside = { ip: port.clusterIp };
  builder.add('cluster-ips', port.clusterIp);
  if (internal.length > 0) builder.serve(inside, builder.internal(inside, internal, port.internalLocal));
  else builder.refuse(inside, isKnown);
  const fronts: Front[] = [
    ...[...port.externalIps, ...port.loadBalancerIps].map((ip) => ({ ip })),
    ...(port.nodePort > 0 ? (['node'] as const) : []),
  ];
  for (const front of fronts) {
    if (isKnown) builder.serve(front, builder.external(front, endpoints));
    if (!isKnown || (port.externalLocal && endpoints.local.length === 0)) builder.refuse(front, isKnown);
  }
  if (isKnown && port.loadBalancerSourceRanges.length > 0)
    for (const ip of port.loadBalancerIps)
      builder.limit(ip, [...port.loadBalancerSourceRanges, ...ownSources(port, nodeAddress)]);
  return builder.rules;
}
