// The door for `sagong up`: what a start needs at once. What comes after the control plane (cloud, nodes, control loops) is loaded when its turn
// comes: loading all first would hold up the first answer by a third.
export { componentArgsOf, wordOf } from '../flags/component-args.ts';
export { etcdFromFlags } from '../store/etcd-location.ts';
export { assertFree, clusterPaths, dataDirOf } from '../state/paths.ts';
export { createProgress } from '../terminal/progress.ts';
export { readRunState, runningProcess } from '../state/run-state.ts';
export { summary } from '../status/summary.ts';
export { up } from './up.ts';
export type { RunningCluster, UpOptions } from './types.ts';
export type { NodeMount, PortMapping } from '../state/settings.ts';
export { clusterNetworks } from '../state/networks.ts';
