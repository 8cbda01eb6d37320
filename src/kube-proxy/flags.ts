// Flags of kube-proxy with upstream's names and defaults (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-proxy/).
import { featureGateFlags, flag, loggingFlags } from '#component-base';

export const kubeProxyFlags = {
  kubeconfig: flag.string({ name: 'kubeconfig', default: '', help: 'Path to kubeconfig file with authorization information.' }),
  hostnameOverride: flag.string({
    name: 'hostname-override',
    default: '',
    help: "Name of the node; default: this machine's host name.",
  }),
  proxyMode: flag.choice(['iptables'] as const, { name: 'proxy-mode', default: 'iptables', help: 'Which proxy mode to use.' }),
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
  cleanup: flag.bool({ name: 'cleanup', default: false, help: 'Remove the rules of kube-proxy and exit.' }),
  ...featureGateFlags([]),
  ...loggingFlags(),
};
export type KubeProxyFlags = typeof kubeProxyFlags;
