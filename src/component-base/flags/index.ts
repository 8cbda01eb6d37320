// The room's flags; reached through #component-base.
export { type FlagCommandOptions, flagCommand, flagHelp } from './command.ts';
export { featureGateFlags, leaderElectionFlags, leaderElectionOf, loggingFlags } from './common.ts';
export {
  type Flag,
  FlagError,
  type FlagOptions,
  type FlagTable,
  type FlagValues,
  flag,
  type ParsedFlags,
  parseFlags,
} from './flags.ts';
export type { FlagType } from './types.ts';
