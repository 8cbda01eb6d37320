// kube-proxy: carries traffic for Service addresses to pods with packet rules.
export { removeRules } from './iptables/applier.ts';
export { type KubeProxyDeps, type KubeProxyOptions, type RunningKubeProxy, runKubeProxy } from './proxy.ts';
