// The kubelet: one node's pods, over containerd or simulated.
export { type IdentityOptions, type NodeIdentity, openIdentity } from './certificates/identity.ts';
export { renewServing } from './certificates/serving.ts';
export { kubeletFlags, type KubeletFlagValues } from './config/flags.ts';
export { type KubeletSettings, kubeletSettings } from './config/options-from.ts';
export { StaticPods } from './config/static-pods.ts';
export { Kubelet, type KubeletParts, simulatedMark } from './kubelet.ts';
export { statsSummary } from './server/stats.ts';
export { serveHealthz } from './server/healthz.ts';
export { type KubeletServerOptions, serveSimulatedNodes, startKubeletServer } from './server/server.ts';
export { type KubeletDeps, type KubeletHandle, runKubelet } from './run.ts';
export { defaultOptions, type KubeletOptions } from './options.ts';
export { createSimulatedNode, createSimulatedRuntime, type SimulatedNodeDeps, type SimulatedNodeOptions } from './simulated.ts';
export type { Machine } from './node/status.ts';
export type { ImageInfo, PodRuntime } from './container/runtime.ts';
export { SimulatedRuntime, type SimulatedRuntimeOptions } from './runtime/simulated/index.ts';
