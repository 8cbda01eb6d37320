// Flags of kube-proxy with upstream's names and defaults (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-proxy/).
import { fixedFeatureGateFlags, flag, flagsWithoutEffect, type FlagValues, loggingFlags, refusedFlags } from '#component-base';
import { refused, withoutEffect } from './unserved-flags.ts';

export const kubeProxyFlags = {
  config: flag.string({ name: 'config', default: '', help: 'File with a KubeProxyConfiguration; it wins over other flags.' }),
  writeConfigTo: flag.string({
    name: 'write-config-to',
    default: '',
    help: 'Write the configuration with all defaults to this file and exit.',
  }),
  master: flag.string({ name: 'master', default: '', help: 'Address of the apiserver; wins over the kubeconfig.' }),
  detectLocalMode: flag.choice(['', 'ClusterCIDR'] as const, {
    name: 'detect-local-mode',
    default: '',
    help: 'How local traffic is known: ClusterCIDR, by --cluster-cidr.',
  }),
  kubeconfig: flag.string({ name: 'kubeconfig', default: '', help: 'Path to kubeconfig file with authorization information.' }),
  hostnameOverride: flag.string({
    name: 'hostname-override',
    default: '',
    help: "Name of the node; default: this machine's host name.",
  }),
  proxyMode: flag.choice(['', 'iptables', 'nftables'] as const, {
    name: 'proxy-mode',
    default: '',
    help: 'Which proxy mode to use: iptables (also when empty) or nftables.',
  }),
  clusterCidr: flag.string({
    name: 'cluster-cidr',
    default: '',
    help: 'CIDR of pods; traffic from elsewhere to Service addresses is masqueraded.',
  }),
  masqueradeAll: flag.bool({ name: 'masquerade-all', default: false, help: 'Masquerade all traffic to Service addresses.' }),
  masqueradeBit: flag.int({
    name: 'iptables-masquerade-bit',
    default: 14,
    help: 'Bit of the mark of packets to masquerade, 0 to 31.',
  }),
  healthzBindAddress: flag.string({
    name: 'healthz-bind-address',
    default: '0.0.0.0:10256',
    help: "Address and port of /healthz; '' disables it.",
  }),
  metricsBindAddress: flag.string({
    name: 'metrics-bind-address',
    default: '127.0.0.1:10249',
    help: "Address and port of /metrics and /proxyMode; '' disables them.",
  }),
  cleanup: flag.bool({ name: 'cleanup', default: false, help: 'Remove the rules of kube-proxy and exit.' }),
  ...fixedFeatureGateFlags(),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
  ...loggingFlags(),
};
export type KubeProxyFlags = typeof kubeProxyFlags;
export type KubeProxyFlagValues = FlagValues<KubeProxyFlags>;
