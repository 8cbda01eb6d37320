// What the workload loops share: children and their adoption, pods made and deleted with upstream's events, rights in short.
export * from './children.ts';
export * from './history.ts';
export { burstReplicasMax } from './limits.ts';
export * from './pod-control.ts';
export * from './replicas.ts';
export * from './resources.ts';
export * from './rights.ts';
export * from './service-watch.ts';
