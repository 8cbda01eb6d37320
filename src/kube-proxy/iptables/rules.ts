// iptables rules of Services, in upstream's chain shape (pkg/proxy/iptables). Pure: services and endpoints in, chains of rules out.
import type { DataplaneOptions } from '../dataplane.ts';
import type { ProxyEndpoint, ServiceEndpoints, ServicePort } from '../model.ts';
import { endpointChain, serviceChains } from '../chain-names.ts';
import { ownSources } from '../own-sources.ts';

export interface RuleOptions extends DataplaneOptions {
  /** `MASQUERADE --random-fully` is supported. */
  randomFully: boolean;
}

export interface PortRules {
  /** Chains that belong to this port alone. */
  chains: { name: string; rules: string[] }[];
  /** Its rules in the shared chains. */
  services: string[];
  nodePorts: string[];
  /** Its rules in the shared chains of the filter table. */
  filterServices: string[];
  filterExternalServices: string[];
  filterFirewall: string[];
}

const comment = (text: string): string => `-m comment --comment "${text}"`;
const proto = ({ protocol }: ServicePort): string => `-m ${protocol.toLowerCase()} -p ${protocol.toLowerCase()}`;

/** Probability of the first of `n` equal chances, with upstream's ten digits. */
const probability = (n: number): string => (1 / n).toFixed(10);

/** All rules of one service port. `nodeAddress` is this node's, when it is known. */
export function portRules(port: ServicePort, endpoints: ServiceEndpoints, options: RuleOptions, nodeAddress?: string): PortRules {
  const out: PortRules = {
    chains: [],
    services: [],
    nodePorts: [],
    filterServices: [],
    filterExternalServices: [],
    filterFirewall: [],
  };
  const names = serviceChains(port);
  const internal = port.internalLocal ? endpoints.local : endpoints.cluster;
  const exposed = port.nodePort > 0 || port.externalIps.length > 0 || port.loadBalancerIps.length > 0;
  const to = (address: string, at: number): string => `${proto(port)} -d ${address} --dport ${at}`;

  if (internal.length > 0) {
    const target = port.internalLocal ? names.local : names.cluster;
    out.services.push(`-A KUBE-SERVICES ${comment(`${port.name} cluster IP`)} ${to(port.clusterIp, port.port)} -j ${target}`);
  } else
    out.filterServices.push(
      `-A KUBE-SERVICES ${refusal(port, port.internalLocal && endpoints.cluster.length > 0)} -d ${port.clusterIp} --dport ${port.port} ${verdict(port.internalLocal && endpoints.cluster.length > 0)}`,
    );

  if (exposed) exposeRules(out, port, endpoints, names, to, nodeAddress);
  const isKnown = endpoints.cluster.length > 0;
  // Also under policy Local: what comes from the node or its pods may go to all endpoints.
  const needsCluster = isKnown && (exposed || !port.internalLocal);
  const needsLocal = endpoints.local.length > 0 && (port.internalLocal || (exposed && port.externalLocal));
  if (exposed && isKnown) out.chains.push({ name: names.external, rules: externalRules(port, endpoints, names, options) });
  if (needsCluster)
    out.chains.push({
      name: names.cluster,
      rules: [...masqueradeRules(port, names.cluster, options, to), ...balance(port, names.cluster, endpoints.cluster)],
    });
  if (needsLocal)
    out.chains.push({
      name: names.local,
      rules: [...masqueradeRules(port, names.local, options, to), ...balance(port, names.local, endpoints.local)],
    });
  const used = new Map<string, ProxyEndpoint>();
  if (needsCluster) for (const endpoint of endpoints.cluster) used.set(endpoint.address, endpoint);
  if (needsLocal) for (const endpoint of endpoints.local) used.set(endpoint.address, endpoint);
  for (const endpoint of used.values()) out.chains.push(endpointRules(port, endpoint));
  return out;
}

const refusal = (port: ServicePort, local: boolean): string =>
  `${comment(`${port.name} has no ${local ? 'local ' : ''}endpoints`)} ${proto(port)}`;
/** With endpoints elsewhere the packet is dropped (the client may try another node); with none at all it is refused. */
const verdict = (elsewhere: boolean): string => (elsewhere ? '-j DROP' : '-j REJECT');

/**
 * Addresses beyond the cluster's own. Where there are endpoints, packets take the external chain, which short-circuits what comes from the node or
 * its pods; what is then still on its way to an endpoint that the node does not have is dropped.
 */
function exposeRules(
  out: PortRules,
  port: ServicePort,
  endpoints: ServiceEndpoints,
  names: ReturnType<typeof serviceChains>,
  to: (address: string, at: number) => string,
  nodeAddress: string | undefined,
): void {
  const isKnown = endpoints.cluster.length > 0;
  const isRefused = !isKnown || (port.externalLocal && endpoints.local.length === 0);
  const limited = isKnown && port.loadBalancerSourceRanges.length > 0 && port.loadBalancerIps.length > 0;
  const refuse = (match: string): void => {
    if (isRefused)
      out.filterExternalServices.push(`-A KUBE-EXTERNAL-SERVICES ${refusal(port, isKnown)} ${match} ${verdict(isKnown)}`);
  };
  const expose = (address: string, about: string, chain: string): void => {
    if (isKnown) out.services.push(`-A KUBE-SERVICES ${comment(`${port.name} ${about}`)} ${to(address, port.port)} -j ${chain}`);
    refuse(`-d ${address} --dport ${port.port}`);
  };
  for (const address of port.externalIps) expose(address, 'external IP', names.external);
  for (const address of port.loadBalancerIps) {
    expose(address, 'loadbalancer IP', limited ? names.firewall : names.external);
    if (limited)
      out.filterFirewall.push(
        `-A KUBE-PROXY-FIREWALL ${comment(`${port.name} traffic not accepted by ${names.firewall}`)} ${to(address, port.port)} -j DROP`,
      );
  }
  if (limited)
    out.chains.push({
      name: names.firewall,
      rules: [
        ...[...port.loadBalancerSourceRanges, ...ownSources(port, nodeAddress)].map(
          (source) => `-A ${names.firewall} ${comment(`${port.name} loadbalancer IP`)} -s ${source} -j ${names.external}`,
        ),
        `-A ${names.firewall} ${comment(`other traffic to ${port.name} will be dropped by KUBE-PROXY-FIREWALL`)}`,
      ],
    });
  if (port.nodePort > 0) {
    if (isKnown)
      out.nodePorts.push(`-A KUBE-NODEPORTS ${comment(port.name)} ${proto(port)} --dport ${port.nodePort} -j ${names.external}`);
    refuse(`-m addrtype --dst-type LOCAL --dport ${port.nodePort}`);
  }
}

/** From outside: policy Cluster hides the client's address, policy Local keeps it and stays on the node. */
function externalRules(
  port: ServicePort,
  { local }: ServiceEndpoints,
  names: ReturnType<typeof serviceChains>,
  { clusterCidr }: RuleOptions,
): string[] {
  const chain = names.external;
  if (!port.externalLocal)
    return [
      `-A ${chain} ${comment(`masquerade traffic for ${port.name} external destinations`)} -j KUBE-MARK-MASQ`,
      `-A ${chain} -j ${names.cluster}`,
    ];
  return [
    ...(clusterCidr
      ? [`-A ${chain} ${comment(`pod traffic for ${port.name} external destinations`)} -s ${clusterCidr} -j ${names.cluster}`]
      : []),
    `-A ${chain} ${comment(`masquerade LOCAL traffic for ${port.name} external destinations`)} -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ`,
    `-A ${chain} ${comment(`route LOCAL traffic for ${port.name} external destinations`)} -m addrtype --src-type LOCAL -j ${names.cluster}`,
    ...(local.length > 0 ? [`-A ${chain} -j ${names.local}`] : []),
  ];
}

function masqueradeRules(
  port: ServicePort,
  chain: string,
  { masqueradeAll, clusterCidr }: RuleOptions,
  to: (address: string, at: number) => string,
): string[] {
  if (!masqueradeAll && !clusterCidr) return [];
  const from = masqueradeAll ? '' : ` ! -s ${clusterCidr}`;
  return [`-A ${chain} ${comment(`${port.name} cluster IP`)} ${to(port.clusterIp, port.port)}${from} -j KUBE-MARK-MASQ`];
}

function balance(port: ServicePort, chain: string, endpoints: readonly ProxyEndpoint[]): string[] {
  const targets = endpoints.map(({ address }) => ({
    about: comment(`${port.name} -> ${address}`),
    name: endpointChain(port, address),
  }));
  const sticky =
    port.affinitySeconds === 0
      ? []
      : targets.map(
          ({ about, name }) =>
            `-A ${chain} ${about} -m recent --name ${name} --rcheck --seconds ${port.affinitySeconds} --reap -j ${name}`,
        );
  const spread = targets.map(({ about, name }, index) => {
    const left = targets.length - index;
    return `-A ${chain} ${about}${left > 1 ? ` -m statistic --mode random --probability ${probability(left)}` : ''} -j ${name}`;
  });
  return [...sticky, ...spread];
}

function endpointRules(port: ServicePort, { address, ip }: ProxyEndpoint): { name: string; rules: string[] } {
  const name = endpointChain(port, address);
  const remember = port.affinitySeconds === 0 ? '' : ` -m recent --name ${name} --set`;
  return {
    name,
    rules: [
      `-A ${name} ${comment(port.name)} -s ${ip} -j KUBE-MARK-MASQ`,
      `-A ${name} ${comment(port.name)}${remember} ${proto(port)} -j DNAT --to-destination ${address}`,
    ],
  };
}
