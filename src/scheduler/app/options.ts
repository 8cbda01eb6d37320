// What a kube-scheduler runs with, from its flags and its configuration file (cmd/kube-scheduler/app/options).
import { type LeaderElectionConfiguration, defaultLeaderElection, type ParsedFlags } from '#component-base';
import { formatDurationMs, parseDurationMs } from '#apimachinery/duration';
import { parseConfiguration, type ProfileConfig, type SchedulerConfiguration } from '../config/index.ts';
import { podInitialBackoffMs, podMaxBackoffMs } from '../limits.ts';
import type { KubeSchedulerFlags } from './flags.ts';

export interface KubeSchedulerOptions {
  /** Without any: the default profile. */
  profiles?: readonly ProfileConfig[];
  initialBackoffMs?: number;
  maxBackoffMs?: number;
  /** A pod that no event moved is tried again after this long. */
  unschedulableMs?: number;
  /** Absent: no election, it leads at once. */
  leaderElection?: LeaderElectionConfiguration;
  /** Unique per process; needed with leaderElection. */
  identity?: string;
}

export const defaultOptions = (): KubeSchedulerOptions => ({
  initialBackoffMs: podInitialBackoffMs,
  maxBackoffMs: podMaxBackoffMs,
  leaderElection: defaultLeaderElection('kube-scheduler'),
});

/** What /configz shows: the part of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) that is read here. */
export const configurationOf = (
  options: KubeSchedulerOptions & { kubeconfig: string },
): { name: string; configuration: object } => {
  const { leaderElection: election, initialBackoffMs = podInitialBackoffMs, maxBackoffMs = podMaxBackoffMs } = options;
  return {
    name: 'kubescheduler.config.k8s.io',
    configuration: {
      kind: 'KubeSchedulerConfiguration',
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      ...(election && {
        leaderElection: {
          leaderElect: election.leaderElect,
          leaseDuration: formatDurationMs(election.leaseDurationMs),
          renewDeadline: formatDurationMs(election.renewDeadlineMs),
          retryPeriod: formatDurationMs(election.retryPeriodMs),
          resourceLock: election.resourceLock,
          resourceName: election.resourceName,
          resourceNamespace: election.resourceNamespace,
        },
      }),
      clientConnection: { kubeconfig: options.kubeconfig },
      podInitialBackoffSeconds: initialBackoffMs / 1000,
      podMaxBackoffSeconds: maxBackoffMs / 1000,
      profiles: options.profiles?.length ? options.profiles : [{ schedulerName: 'default-scheduler' }],
    },
  };
};

function electionOf(
  flags: ParsedFlags<KubeSchedulerFlags>['values'],
  file: SchedulerConfiguration['leaderElection'],
): LeaderElectionConfiguration {
  const duration = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : parseDurationMs(text);
  return {
    leaderElect: file?.leaderElect ?? flags.leaderElect,
    leaseDurationMs: duration(file?.leaseDuration, flags.leaderElectLeaseDurationMs),
    renewDeadlineMs: duration(file?.renewDeadline, flags.leaderElectRenewDeadlineMs),
    retryPeriodMs: duration(file?.retryPeriod, flags.leaderElectRetryPeriodMs),
    resourceLock: 'leases',
    resourceName: file?.resourceName ?? flags.leaderElectResourceName,
    resourceNamespace: file?.resourceNamespace ?? flags.leaderElectResourceNamespace,
  };
}

/** Makes the scheduler's options from flags. The settings of a configuration file (`configText`) win over flags. Throws ConfigurationError. */
export function optionsFromFlags(
  flags: ParsedFlags<KubeSchedulerFlags>['values'],
  configText?: string,
): KubeSchedulerOptions & { kubeconfig: string } {
  const config = configText === undefined ? {} : parseConfiguration(configText);
  const { podInitialBackoffSeconds: initial, podMaxBackoffSeconds: max } = config;
  return {
    profiles: config.profiles ?? [],
    initialBackoffMs: initial === undefined ? podInitialBackoffMs : initial * 1000,
    maxBackoffMs: max === undefined ? podMaxBackoffMs : max * 1000,
    unschedulableMs: flags.podMaxInUnschedulablePodsDurationMs,
    leaderElection: electionOf(flags, config.leaderElection),
    kubeconfig: config.clientConnection?.kubeconfig || flags.kubeconfig,
  };
}
