// The flags of `sagong up` and of the other commands about clusters. Nothing else of the room is loaded with them.
export { clusterRows } from './cluster.ts';
export { etcdRows } from './etcd.ts';
export { type KeptFlags, keptOf, upDefaults, type UpFlags, upFlags } from './up.ts';
