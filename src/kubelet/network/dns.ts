// What goes into a pod's resolv.conf (upstream pkg/kubelet/network/dns).
import type { Pod } from '#api/core/v1';
import { isHostNetworkPod } from '#component-helpers/pod';

export interface DnsConfig {
  servers: string[];
  searches: string[];
  options: string[];
}

export interface DnsInput {
  clusterDNS: readonly string[];
  clusterDomain: string;
  /** The node's own resolv.conf. */
  host: DnsConfig;
}

const serversMax = 3;
const searchesMax = 32;

export function parseResolvConf(text: string): DnsConfig {
  const config: DnsConfig = { servers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [word, ...rest] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (word === 'nameserver' && rest[0]) config.servers.push(rest[0]);
    else if (word === 'search' || word === 'domain') config.searches = rest.map((name) => name.replace(/(.)\.$/, '$1'));
    else if (word === 'options') config.options = rest;
  }
  return config;
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Options of the pod replace those of the same name. */
function mergeOptions(base: readonly string[], own: { name?: string; value?: string }[]): string[] {
  const options = new Map(base.map((option) => [option.split(':')[0] ?? '', option]));
  for (const { name = '', value } of own) options.set(name, value ? `${name}:${value}` : name);
  return [...options.values()];
}

/** The DNS settings of a pod. `missing`: the pod wanted cluster DNS, and no name server is configured. */
export function podDns(pod: Pod, { clusterDNS, clusterDomain, host }: DnsInput): { config: DnsConfig; missing: boolean } {
  const { dnsPolicy = 'ClusterFirst', dnsConfig } = pod.spec ?? {};
  const wantsCluster = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !isHostNetworkPod(pod));
  const missing = wantsCluster && clusterDNS.length === 0;
  let config: DnsConfig = { servers: [...host.servers], searches: [...host.searches], options: [...host.options] };
  if (dnsPolicy === 'None') config = { servers: [], searches: [], options: [] };
  else if (wantsCluster && !missing) {
    const own =
      clusterDomain === '' ? [] : [`${pod.metadata.namespace ?? ''}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
    config = { servers: [...clusterDNS], searches: unique([...own, ...host.searches]), options: ['ndots:5'] };
  }
  if (dnsConfig) {
    config.servers = unique([...config.servers, ...(dnsConfig.nameservers ?? [])]);
    config.searches = unique([...config.searches, ...(dnsConfig.searches ?? [])]);
    config.options = mergeOptions(config.options, dnsConfig.options ?? []);
  }
  return {
    config: { ...config, servers: config.servers.slice(0, serversMax), searches: config.searches.slice(0, searchesMax) },
    missing,
  };
}
