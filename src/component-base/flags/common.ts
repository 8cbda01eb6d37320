// Flags that every component shares, with upstream's names, defaults and headings (k8s.io/component-base/logs, cli, config/options).
import type { LeaderElectionConfiguration } from '../leader-election.ts';
import { checkFixedGates } from '../features/index.ts';
import { flag, type Flag, type FlagValues } from './flags.ts';
import { boolMapType, stringsType } from './types.ts';

/** Makes the flags `-v`, `--vmodule`, `--logging-format` and the flush period. */
export const loggingFlags = () => ({
  verbosity: flag.int({ name: 'v', shorthand: 'v', default: 0, help: 'Verbosity of the log.', section: 'Logs' }),
  vmodule: flag.stringMap({
    name: 'vmodule',
    default: {},
    help: 'component=N settings, comma separated; text format only.',
    section: 'Logs',
  }),
  loggingFormat: flag.choice(['text', 'json'] as const, {
    name: 'logging-format',
    default: 'text',
    help: 'Format of log lines: text or json.',
    section: 'Logs',
  }),
  logFlushFrequencyMs: flag.duration({
    name: 'log-flush-frequency',
    default: 5_000,
    help: 'Longest time between log flushes.',
    section: 'Logs',
    noEffect: 'log lines are written at once',
  }),
});

/** Makes the flag `--feature-gates`, whose value `FeatureGates.set` takes. */
export const featureGateFlags = (help: readonly string[]) => ({
  featureGates: flag.boolMap({
    name: 'feature-gates',
    default: {},
    help: `Features to switch, as Name=true|false pairs. Known: ${help.join(' ')}`,
    section: 'Generic',
  }),
});

/** Upstream's form in components with versions of their own: `kube:Name=true` or `Name=true`. */
const parseGates = (text: string): Record<string, boolean> => boolMapType.parse(text.replace(/(^|,)kube:/g, '$1'));

/** `--feature-gates` of a component that has every gate of upstream at its default, and switches none. */
export const fixedFeatureGateFlags = (): { featureGates: Flag<Record<string, boolean>> } => {
  const { featureGates } = featureGateFlags([]);
  const parse = (text: string): Record<string, boolean> => {
    const values = parseGates(text);
    checkFixedGates(values);
    return values;
  };
  const help = 'Features to switch, as Name=true|false pairs. Every gate of upstream is known, and stays at its default.';
  return { featureGates: { ...featureGates, help, type: { ...featureGates.type, parse } } };
};

const ownMinor = '1.36';

/** Makes the flags `--emulated-version` and `--min-compatibility-version`, which take the own version alone. */
export const versionFlags = () => {
  const parse = (text: string): string[] => {
    const versions = stringsType.parse(text);
    const other = versions.find((version) => version.replace(/^kube=/, '').replace(/^v/, '') !== ownMinor);
    if (other !== undefined) throw new Error(`only version ${ownMinor} is there, not ${other}`);
    return versions;
  };
  const version = (name: string, help: string): Flag<string[]> => ({
    ...flag.strings({ name, default: [], help, section: 'Generic' }),
    type: { ...stringsType, parse },
  });
  return {
    emulatedVersion: version('emulated-version', `Version to behave as. Only ${ownMinor}.`),
    minCompatibilityVersion: version('min-compatibility-version', `Lowest version of others to work with. Only ${ownMinor}.`),
  };
};

/** The settings that `leaderElectionFlags` were given. */
export const leaderElectionOf = (flags: FlagValues<ReturnType<typeof leaderElectionFlags>>): LeaderElectionConfiguration => ({
  leaderElect: flags.leaderElect,
  leaseDurationMs: flags.leaderElectLeaseDurationMs,
  renewDeadlineMs: flags.leaderElectRenewDeadlineMs,
  retryPeriodMs: flags.leaderElectRetryPeriodMs,
  resourceLock: flags.leaderElectResourceLock,
  resourceName: flags.leaderElectResourceName,
  resourceNamespace: flags.leaderElectResourceNamespace,
});

/** Makes the flags `--leader-elect*` of a component. */
export const leaderElectionFlags = (defaults: LeaderElectionConfiguration) => {
  const section = 'Leader election';
  return {
    leaderElect: flag.bool({
      name: 'leader-elect',
      default: defaults.leaderElect,
      help: 'Run the main loop only while holding the leader lease; for components with replicas.',
      section,
    }),
    leaderElectLeaseDurationMs: flag.duration({
      name: 'leader-elect-lease-duration',
      default: defaults.leaseDurationMs,
      help: 'How long others wait after the last renewal they saw before they take the lease.',
      section,
    }),
    leaderElectRenewDeadlineMs: flag.duration({
      name: 'leader-elect-renew-deadline',
      default: defaults.renewDeadlineMs,
      help: 'How long the leader tries to renew before it stops leading. Less than the lease duration.',
      section,
    }),
    leaderElectRetryPeriodMs: flag.duration({
      name: 'leader-elect-retry-period',
      default: defaults.retryPeriodMs,
      help: 'Time between two attempts to acquire or renew.',
      section,
    }),
    leaderElectResourceLock: flag.choice(['leases'] as const, {
      name: 'leader-elect-resource-lock',
      default: defaults.resourceLock,
      help: 'Kind of object used as the lock. Only leases.',
      section,
    }),
    leaderElectResourceName: flag.string({
      name: 'leader-elect-resource-name',
      default: defaults.resourceName,
      help: 'Name of the lock object.',
      section,
    }),
    leaderElectResourceNamespace: flag.string({
      name: 'leader-elect-resource-namespace',
      default: defaults.resourceNamespace,
      help: 'Namespace of the lock object.',
      section,
    }),
  };
};
