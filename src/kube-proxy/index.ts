// kube-proxy: carries traffic for Service addresses to pods with packet rules.
export { configurationOf, optionsFromFlags, withConfiguration } from './configuration.ts';
export { type KubeProxyFlags, kubeProxyFlags, type KubeProxyFlagValues } from './flags.ts';
export type { ProxyMode } from './dataplane.ts';
export { removeAllRules } from './modes.ts';
export { type KubeProxyDeps, type KubeProxyOptions, type RunningKubeProxy, runKubeProxy } from './proxy.ts';
