// Settings of leader election and their flags' defaults (k8s.io/component-base/config, client-go/tools/leaderelection).

export interface LeaderElectionConfiguration {
  leaderElect: boolean;
  /** How long non-leaders wait before they take over an unrenewed lease. */
  leaseDurationMs: number;
  /** How long the leader retries to renew before it gives up. */
  renewDeadlineMs: number;
  /** Between two actions. */
  retryPeriodMs: number;
  /** Only `leases` since 1.24. */
  resourceLock: 'leases';
  resourceName: string;
  resourceNamespace: string;
}

export const defaultLeaderElection = (resourceName: string): LeaderElectionConfiguration => ({
  leaderElect: true,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  resourceLock: 'leases',
  resourceName,
  resourceNamespace: 'kube-system',
});

/** client-go's JitterFactor: the renew deadline must exceed the retry period by this. */
const jitterFactor = 1.2;

/** What is wrong with the settings, in upstream's words; empty when nothing is. */
export function validateLeaderElection(config: LeaderElectionConfiguration): string[] {
  if (!config.leaderElect) return [];
  const problems: string[] = [];
  if (config.leaseDurationMs <= config.renewDeadlineMs) problems.push('leaseDuration must be greater than renewDeadline');
  if (config.renewDeadlineMs <= jitterFactor * config.retryPeriodMs) {
    problems.push('renewDeadline must be greater than retryPeriod*JitterFactor');
  }
  if (config.leaseDurationMs < 1) problems.push('leaseDuration must be greater than zero');
  if (config.renewDeadlineMs < 1) problems.push('renewDeadline must be greater than zero');
  if (config.retryPeriodMs < 1) problems.push('retryPeriod must be greater than zero');
  if (config.resourceName === '') problems.push('resourceName must not be empty');
  if (config.resourceNamespace === '') problems.push('resourceNamespace must not be empty');
  return problems;
}
