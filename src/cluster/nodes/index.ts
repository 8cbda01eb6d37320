export { cgroupLayout } from './cgroups.ts';
export { containerdPaths } from './containerd-config.ts';
export { joinLan, type Lan } from './lan.ts';
export { removeLeftovers } from './leftovers.ts';
export { createNetwork, routePods } from './network.ts';
export { lan, networkPlan, type NetworkPlan, type NodePlan } from './plan.ts';
export { parseRegistryMirror, type RegistryMirror } from './registry-mirrors.ts';
export { createUplink, removeUplink, type Uplink } from './uplink.ts';
export { RealNode, type RealNodeOptions } from './real-node.ts';
