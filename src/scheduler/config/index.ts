export { parseConfiguration, profilesOf } from './load.ts';
export { ConfigurationError, type ProfileConfig, type SchedulerConfiguration } from './types.ts';
