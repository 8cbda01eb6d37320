// kube-scheduler as a running component: profiles from the configuration, leader election around the loop (cmd/kube-scheduler/app/server.go).
import { runLeaderElection } from '#client';
import type { HealthCheck } from '#component-base';
import { profilesOf } from '../config/index.ts';
import type { Decision } from '../cycle/index.ts';
import { Scheduler, type SchedulerDeps } from '../shell/scheduler.ts';
import type { KubeSchedulerOptions } from './options.ts';

export interface KubeScheduler {
  /** Resolves once its caches are filled; with leader election only when it leads. */
  readonly started: Promise<void>;
  /** Checks for /healthz, /livez and /readyz. */
  readonly checks: readonly HealthCheck[];
  /** The newest decision about a pod, with every node's verdict or score, if it is still remembered. */
  explain(uid: string): Decision | undefined;
  /** Stops deciding; resolves when its events are written and the lease is released. */
  stop(): Promise<void>;
}

/** Throws ConfigurationError when the profiles are not usable. */
export function runKubeScheduler(options: KubeSchedulerOptions, deps: SchedulerDeps): KubeScheduler {
  const { leaderElection: election, initialBackoffMs, maxBackoffMs } = options;
  const profiles = profilesOf({ profiles: [...(options.profiles ?? [])] });
  const settings = { profiles, ...(initialBackoffMs && { initialBackoffMs }), ...(maxBackoffMs && { maxBackoffMs }) };
  const scheduler = new Scheduler(settings, deps);
  const abort = new AbortController();
  let markStarted: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  let isStarted = false;
  const lead = async (): Promise<void> => {
    await scheduler.start();
    isStarted = true;
    markStarted();
  };
  const run = election?.leaderElect
    ? runLeaderElection(
        {
          ...deps,
          namespace: election.resourceNamespace,
          name: election.resourceName,
          identity: options.identity ?? deps.rng.uuid(),
          leaseDurationMs: election.leaseDurationMs,
          renewDeadlineMs: election.renewDeadlineMs,
          retryPeriodMs: election.retryPeriodMs,
          onStartedLeading: lead,
          onStoppedLeading: () => void scheduler.stop(),
        },
        abort.signal,
      )
    : lead();
  run.catch((error: unknown) => deps.logger.error('scheduler ended', { err: String(error) }));
  const syncCheck: HealthCheck = {
    name: 'sched-handler-sync',
    check() {
      if (!isStarted && !election?.leaderElect) throw new Error('waiting for handlers to sync');
    },
  };
  return {
    started,
    checks: [syncCheck],
    explain: (uid) => scheduler.explain(uid),
    async stop() {
      abort.abort();
      await scheduler.stop();
      await run.catch(() => {});
    },
  };
}
