// kube-scheduler as a running component: profiles from the configuration, leader election around the loop (cmd/kube-scheduler/app/server.go).
import { runLeaderElection } from '#client';
import { buildInfo, createMetrics, type HealthCheck, type LeaderElectionConfiguration, type Metrics } from '#component-base';
import { profilesOf } from '../config/index.ts';
import { type Decision, type DecisionTold, decisionTold } from '../cycle/index.ts';
import { leaderHealthSlackMs } from '../limits.ts';
import { Scheduler, type SchedulerDeps } from '../shell/scheduler.ts';
import type { KubeSchedulerOptions } from './options.ts';

export interface KubeScheduler {
  /** Resolves once its caches are filled; with leader election only when it leads. */
  readonly started: Promise<void>;
  /** Resolves when leadership was lost, or deciding could not be started. The process should end, and at once: another one decides now. */
  readonly ended: Promise<void>;
  /** Checks for /healthz and /livez. */
  readonly checks: readonly HealthCheck[];
  /** Checks for /readyz: those, and that its caches are filled. */
  readonly readyChecks: readonly HealthCheck[];
  readonly metrics: Metrics;
  /** The newest decision about a pod, with every node's verdict or score, if it is still remembered. */
  explain(uid: string): Decision | undefined;
  /** The decision about the pod, in words. */
  told(uid: string): DecisionTold | undefined;
  /** Stops deciding; resolves when its events are written and the lease is released. */
  stop(): Promise<void>;
}

/** A promise and what resolves it. */
function signalled(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

interface Election {
  check: HealthCheck;
  /** Resolves when the lease was lost or, after `signal` aborted, given back. */
  run(signal: AbortSignal): Promise<void>;
}

/** Decides while it holds the lease; gives it back only when deciding has ended. `onLost` is called as soon as it is lost. */
function elect(
  election: LeaderElectionConfiguration,
  identity: string,
  deps: SchedulerDeps & { metrics: Metrics },
  { lead, stop, onLost }: { lead(): Promise<void>; stop(): Promise<void>; onLost(): void },
): Election {
  const lease = election.resourceName;
  const master = deps.metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads by a lease: 1 it does, 0 it stands by.',
    labels: ['name'],
  });
  let renewedAtMs: number | undefined;
  master.set(0, lease);
  const leading = async (signal: AbortSignal): Promise<void> => {
    master.set(1, lease);
    const over = signalled();
    signal.addEventListener('abort', over.resolve, { once: true });
    await Promise.race([lead(), over.promise]);
    await over.promise;
    master.set(0, lease);
    renewedAtMs = undefined;
    onLost();
    await stop();
  };
  return {
    check: {
      name: 'leaderElection',
      check() {
        const lateMs = renewedAtMs === undefined ? 0 : deps.clock.monotonic() - renewedAtMs - election.leaseDurationMs;
        if (lateMs > leaderHealthSlackMs) throw new Error(`failed election to renew leadership on lease ${lease}`);
      },
    },
    run: (signal) =>
      runLeaderElection(
        {
          ...deps,
          namespace: election.resourceNamespace,
          name: lease,
          identity,
          leaseDurationMs: election.leaseDurationMs,
          renewDeadlineMs: election.renewDeadlineMs,
          retryPeriodMs: election.retryPeriodMs,
          onStartedLeading: leading,
          onRenewed: () => {
            renewedAtMs = deps.clock.monotonic();
          },
          onStoppedLeading() {},
        },
        signal,
      ),
  };
}

/** Throws ConfigurationError when the profiles are not usable. */
export function runKubeScheduler(options: KubeSchedulerOptions, given: SchedulerDeps): KubeScheduler {
  const { initialBackoffMs, maxBackoffMs, unschedulableMs } = options;
  const deps = { ...given, metrics: given.metrics ?? createMetrics() };
  buildInfo(deps.metrics);
  const profiles = profilesOf({ profiles: [...(options.profiles ?? [])] });
  const settings = {
    profiles,
    ...(initialBackoffMs && { initialBackoffMs }),
    ...(maxBackoffMs && { maxBackoffMs }),
    ...(unschedulableMs !== undefined && { unschedulableMs }),
  };
  const scheduler = new Scheduler(settings, deps);
  const abort = new AbortController();
  const [started, ended] = [signalled(), signalled()];
  let isStarted = false;
  const lead = async (): Promise<void> => {
    await scheduler.start();
    isStarted = true;
    started.resolve();
  };
  const onLost = (): void => {
    if (!abort.signal.aborted) ended.resolve();
  };
  const election = options.leaderElection?.leaderElect
    ? elect(options.leaderElection, options.identity ?? deps.rng.uuid(), deps, { lead, stop: () => scheduler.stop(), onLost })
    : undefined;
  const run = election ? election.run(abort.signal) : lead();
  run.catch((error: unknown) => {
    if (abort.signal.aborted) return;
    deps.logger.error('scheduler ended', { err: String(error) });
    onLost();
  });
  const syncCheck: HealthCheck = {
    name: 'sched-handler-sync',
    check() {
      if (!isStarted && !election) throw new Error('handlers are not fully synchronized');
    },
  };
  const checks = election ? [election.check] : [];
  return {
    started: started.promise,
    ended: ended.promise,
    checks,
    readyChecks: [...checks, syncCheck],
    metrics: deps.metrics,
    explain: (uid) => scheduler.explain(uid),
    told(uid) {
      const decision = scheduler.explain(uid);
      return decision && decisionTold(decision);
    },
    async stop() {
      abort.abort();
      await scheduler.stop();
      await run.catch(() => {});
    },
  };
}
