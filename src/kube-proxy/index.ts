// kube-proxy: carries traffic for Service addresses to pods with packet rules.
export { type KubeProxyFlags, kubeProxyFlags } from './flags.ts';
export { removeRules } from './iptables/applier.ts';
export { type KubeProxyDeps, type KubeProxyOptions, type RunningKubeProxy, runKubeProxy } from './proxy.ts';
