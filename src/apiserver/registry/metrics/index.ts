// metrics.k8s.io without an add-on.
export { metricsGroup } from './endpoints.ts';
export { metricsRoleHook } from './role.ts';
export { type NodeStatsShortcut, StatsSource } from './source.ts';
