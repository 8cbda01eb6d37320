// Reads a KubeSchedulerConfiguration file (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/).
import { parseYaml } from '#apimachinery/codec';
import type { Profile } from '../framework/index.ts';
import { registry } from '../registry.ts';
import { profileOf } from './merge.ts';
import { ConfigurationError, type ProfileConfig, type SchedulerConfiguration } from './types.ts';

const groupVersion = 'kubescheduler.config.k8s.io/v1';

/** Reads YAML or JSON. Throws ConfigurationError. */
export function parseConfiguration(text: string): SchedulerConfiguration {
  let value: unknown;
  try {
    value = parseYaml(text).value;
  } catch (error) {
    throw new ConfigurationError(`couldn't read the scheduler's configuration: ${(error as Error).message}`);
  }
  const config = value as SchedulerConfiguration | null;
  if (
    config === null ||
    typeof config !== 'object' ||
    config.kind !== 'KubeSchedulerConfiguration' ||
    config.apiVersion !== groupVersion
  ) {
    const { kind = '', apiVersion = '' } = (config ?? {}) as SchedulerConfiguration;
    throw new ConfigurationError(`couldn't decode as KubeSchedulerConfiguration, got ${kind} of ${apiVersion || 'no version'}`);
  }
  checkFields(config);
  return config;
}

const knownFields = new Set([
  ...['apiVersion', 'kind', 'parallelism', 'leaderElection', 'clientConnection', 'percentageOfNodesToScore', 'profiles'],
  ...['podInitialBackoffSeconds', 'podMaxBackoffSeconds', 'extenders', 'delayCacheUntilActive', 'healthzBindAddress'],
  ...['metricsBindAddress', 'enableProfiling', 'enableContentionProfiling'],
]);

/** Throws ConfigurationError for what is no field, and for what would be asked for in vain. */
function checkFields(config: SchedulerConfiguration): void {
  const unknown = Object.keys(config).find((name) => !knownFields.has(name));
  if (unknown !== undefined) throw new ConfigurationError(`strict decoding error: unknown field ${JSON.stringify(unknown)}`);
  if (config.extenders?.length) throw new ConfigurationError('extenders are not supported: nothing outside is asked about nodes');
}

const weightMax = 100;

function checkProfile({ schedulerName, percentageOfNodesToScore: percentage, plugins }: ProfileConfig): void {
  if (schedulerName === '') throw new ConfigurationError('profiles.schedulerName: Required value');
  if (percentage !== undefined && (percentage < 0 || percentage > 100)) {
    throw new ConfigurationError('profiles.percentageOfNodesToScore: Invalid value: not in valid range [0-100]');
  }
  for (const set of Object.values(plugins ?? {})) {
    for (const { name, weight = 0 } of set?.enabled ?? []) {
      if (weight < 0 || weight > weightMax)
        throw new ConfigurationError(`plugin ${JSON.stringify(name)}: weight ${weight} is out of range`);
    }
  }
}

/** The profiles by scheduler name; without a configuration the default one. Throws ConfigurationError. */
export function profilesOf(config: Pick<SchedulerConfiguration, 'profiles'> = {}): Map<string, Profile> {
  const profiles = new Map<string, Profile>();
  for (const one of config.profiles?.length ? config.profiles : [{}]) {
    checkProfile(one);
    const profile = profileOf(one, registry);
    if (profiles.has(profile.schedulerName)) {
      throw new ConfigurationError(`profiles.schedulerName: Duplicate value: ${JSON.stringify(profile.schedulerName)}`);
    }
    profiles.set(profile.schedulerName, profile);
  }
  return profiles;
}
