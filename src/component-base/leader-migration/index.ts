// Leader migration: which manager runs a loop while it moves from one manager to another (KEP-2436, k8s.io/controller-manager leadermigration).
export { leaderMigrationFlags, type LeaderMigrationFlags, leaderMigrationOf } from './flags.ts';
export {
  defaultLeaderMigration,
  type LeaderMigrationConfiguration,
  parseLeaderMigration,
} from './configuration.ts';
export { type Lock, lockOf } from './lock.ts';
