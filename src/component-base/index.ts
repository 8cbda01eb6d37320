// What every component has beside its work: logs, metrics, health endpoints, feature gates, version, flags, leader-election settings.
export * from './logs/index.ts';
export * from './metrics/index.ts';
export * from './health/index.ts';
export * from './features/index.ts';
export * from './leader-election.ts';
export * from './leader-migration/index.ts';
export * from './version.ts';
export * from './version-info.ts';
export * from './flags/index.ts';
export * from './zpages/index.ts';
export * from './failures/index.ts';
