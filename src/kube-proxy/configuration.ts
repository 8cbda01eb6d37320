// KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1): what of it is read, and what has nothing to do here. With a file its settings win over
// flags, except --hostname-override (cmd/kube-proxy/app/options.go).
import { parseYaml } from '#apimachinery/codec';
import { checkFixedGates, defaultsOf, FlagError } from '#component-base';
import { type KubeProxyFlagValues, kubeProxyFlags } from './flags.ts';
import type { KubeProxyOptions } from './proxy.ts';

interface KubeProxyConfiguration {
  apiVersion?: string;
  kind?: string;
  clientConnection?: { kubeconfig?: string };
  clusterCIDR?: string;
  featureGates?: Record<string, boolean>;
  healthzBindAddress?: string;
  hostnameOverride?: string;
  iptables?: { masqueradeAll?: boolean; masqueradeBit?: number | null };
  logging?: { format?: 'text' | 'json' | ''; verbosity?: number };
  metricsBindAddress?: string;
  mode?: string;
}

const groupVersion = 'kubeproxy.config.k8s.io/v1alpha1';
const served = new Set([
  ...['apiVersion', 'kind', 'clientConnection', 'clusterCIDR', 'featureGates', 'healthzBindAddress', 'hostnameOverride'],
  ...['iptables', 'logging', 'metricsBindAddress', 'mode'],
]);
/** Accepted: they tune what is not here. */
const withoutEffect: Readonly<Record<string, string>> = {
  bindAddressHardFail: 'nothing is served at the bind address but /healthz',
  configSyncPeriod: 'Services and endpoints are watched',
  conntrack: 'connection tracking of the kernel is left as it is',
  enableProfiling: 'there is no /debug/pprof',
  ipvs: 'there is no IPVS mode',
  nftables: 'its sync periods and masquerading are those of the iptables mode',
  oomScoreAdj: 'the score of the process is left as it was at the start',
  portRange: 'there is no userspace mode',
  showHiddenMetricsForVersion: 'no metric is hidden here',
  windowsRunAsService: 'this is not Windows',
  winkernel: 'this is not Windows',
};
/** Refused unless they say what happens anyway. */
const refused: Readonly<Record<string, readonly [allowed: readonly unknown[], why: string]>> = {
  bindAddress: [['0.0.0.0', '::'], 'rules are for all addresses of the node'],
  detectLocal: [[], 'local traffic is known by the cluster CIDR only'],
  detectLocalMode: [['ClusterCIDR'], 'local traffic is known by the cluster CIDR only'],
  nodePortAddresses: [[], 'node ports are served on all addresses of the node'],
};

const modes: readonly string[] = ['', 'iptables', 'nftables'];

const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === '0s' ||
  value === false ||
  (typeof value === 'object' && Object.values(value).every(isZero));

/** Warnings about fields that are set and have no effect. Throws FlagError for those that cannot be obeyed. */
function check(config: KubeProxyConfiguration): string[] {
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(config)) {
    if (served.has(name)) continue;
    const [no, idle] = [refused[name], withoutEffect[name]];
    if (!no && idle === undefined) throw new FlagError(`strict decoding error: unknown field "${name}"`);
    if (isZero(value) || no?.[0].includes(value)) continue;
    if (no) throw new FlagError(`${name} of the KubeProxyConfiguration is not supported: ${no[1]}`);
    warnings.push(`Field ${name} of the KubeProxyConfiguration has no effect: ${idle}`);
  }
  const { mode = '' } = config;
  if (!modes.includes(mode))
    throw new FlagError(`mode "${mode}" of the KubeProxyConfiguration is not supported: there are iptables and nftables`);
  checkFixedGates(config.featureGates ?? {});
  return warnings;
}

/** The flags with the file's settings in them. Throws FlagError for a file that cannot be obeyed. */
export function withConfiguration(
  flags: KubeProxyFlagValues,
  text: string,
): { values: KubeProxyFlagValues; warnings: readonly string[] } {
  const config = parseYaml(text).value as KubeProxyConfiguration | undefined;
  if (config?.kind !== 'KubeProxyConfiguration' || config.apiVersion !== groupVersion)
    throw new FlagError(`no kind "KubeProxyConfiguration" of ${groupVersion} in the configuration file`);
  const warnings = check(config);
  const { iptables, logging } = config;
  const usual = defaultsOf(kubeProxyFlags);
  const values: KubeProxyFlagValues = {
    ...flags,
    kubeconfig: config.clientConnection?.kubeconfig ?? '',
    clusterCidr: config.clusterCIDR ?? '',
    healthzBindAddress: config.healthzBindAddress || usual.healthzBindAddress,
    proxyMode: (config.mode ?? '') as KubeProxyFlagValues['proxyMode'],
    metricsBindAddress: config.metricsBindAddress || usual.metricsBindAddress,
    hostnameOverride: flags.hostnameOverride || config.hostnameOverride || '',
    masqueradeAll: iptables?.masqueradeAll ?? false,
    masqueradeBit: iptables?.masqueradeBit ?? usual.masqueradeBit,
    verbosity: logging?.verbosity || flags.verbosity,
    loggingFormat: logging?.format || flags.loggingFormat,
  };
  return { values, warnings };
}

/** What `--write-config-to` writes, and a file would say. */
export const configurationOf = (flags: KubeProxyFlagValues): object => ({
  apiVersion: groupVersion,
  kind: 'KubeProxyConfiguration',
  clientConnection: { kubeconfig: flags.kubeconfig },
  clusterCIDR: flags.clusterCidr,
  healthzBindAddress: flags.healthzBindAddress,
  hostnameOverride: flags.hostnameOverride,
  iptables: { masqueradeAll: flags.masqueradeAll, masqueradeBit: flags.masqueradeBit },
  logging: { format: flags.loggingFormat, verbosity: flags.verbosity },
  metricsBindAddress: flags.metricsBindAddress,
  mode: flags.proxyMode || 'iptables',
});

/** What a kube-proxy runs with, beside the name of its node. */
export function optionsFromFlags(values: KubeProxyFlagValues): Omit<KubeProxyOptions, 'nodeName'> {
  const [host = '0.0.0.0', port = '0'] = values.healthzBindAddress.split(/:(?=\d+$)/);
  const [metricsHost = '127.0.0.1', metricsPort = '0'] = values.metricsBindAddress.split(/:(?=\d+$)/);
  return {
    ...(values.proxyMode && { mode: values.proxyMode }),
    masqueradeAll: values.masqueradeAll,
    masqueradeBit: values.masqueradeBit,
    healthzHost: host,
    healthzPort: Number(port),
    metricsHost,
    metricsPort: Number(metricsPort),
    configuration: configurationOf(values),
    ...(values.clusterCidr && { clusterCidr: values.clusterCidr }),
  };
}
