// The room's flags; reached through #component-base.
export { type Command, command, type CommandOptions, runCommandLine } from './command.ts';
export { defaultText, flagHelp } from './help.ts';
export {
  featureGateFlags,
  fixedFeatureGateFlags,
  leaderElectionFlags,
  leaderElectionOf,
  loggingFlags,
  versionFlags,
} from './common.ts';
export {
  defaultsOf,
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
export { flagsWithoutEffect, refusedFlags, type UnservedRow, type UnservedRows } from './unserved.ts';
