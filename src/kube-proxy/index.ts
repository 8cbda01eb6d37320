// kube-proxy: carries traffic for Service addresses to pods with packet rules.
export { configurationOf, withConfiguration } from './configuration.ts';
export { type KubeProxyFlags, kubeProxyFlags, type KubeProxyFlagValues } from './flags.ts';
export { removeRules } from './iptables/applier.ts';
export { type KubeProxyDeps, type KubeProxyOptions, type RunningKubeProxy, runKubeProxy } from './proxy.ts';
