// kube-controller-manager: all control loops in one process, behind leader election where several run.
import type { KubeClient } from '#client';
import {
  buildInfo,
  createMetrics,
  defaultLeaderElection,
  type HealthCheck,
  type LeaderElectionConfiguration,
  type LeaderMigrationConfiguration,
  lockOf,
  type Metrics,
  type Supervisor,
  workQueueMetrics,
} from '#component-base';
import { type ControllersConfig, createControllers } from '#controllers';
import type { Decisions } from '#controller-runtime';
import { ControllerSet, runLeading, selectControllers, untilAborted } from '#controller-runtime/manager';
import type { Clock, Logger, Rng } from '#utils';
import { absentLoops, isAbsent } from './absent.ts';
import { cloudLoops } from './cloud.ts';

export { checkCloudProvider } from './cloud.ts';
export { absentLoops } from './absent.ts';
export { cloudLoops } from './cloud.ts';
export { concurrencyOf } from './concurrency.ts';
export { controllersConfigOf, type KubeControllerManagerFlags, kubeControllerManagerFlags } from './flags.ts';
export { configurationOf } from './configz.ts';

const component = 'kube-controller-manager';

export interface KubeControllerManagerOptions {
  /** `--controllers`. */
  controllers: string[];
  config: ControllersConfig;
  leaderElection: LeaderElectionConfiguration;
  /** `--enable-leader-migration`: loops that run under a lease shared with the cloud-controller-manager. */
  leaderMigration?: LeaderMigrationConfiguration | undefined;
  /** Unique per process, for leader election. */
  identity: string;
  /** `--controller-start-interval`, in milliseconds; up to twice as long. */
  controllerStartIntervalMs?: number;
  /** Keys in work at once, by loop; default: the loop's own. */
  concurrency?: Readonly<Record<string, number>>;
}

export interface KubeControllerManagerDeps {
  /** The manager's own identity: reads and leader election. */
  client: KubeClient;
  /** The identity a loop writes with (`--use-service-account-credentials`); default: the manager's own. */
  clientFor?(controller: string): KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics?: Metrics;
  /** Kept for explanation. */
  decisions?: Decisions;
  /** Of the process, where it has one: each loop runs under it. */
  supervisor?: Supervisor | undefined;
}

export interface RunningControllerManager {
  /** Names of the loops that run here; empty while another process leads. */
  running(): string[];
  /** For /healthz. */
  healthChecks(): HealthCheck[];
  readonly metrics: Metrics;
  /** Resolves when leadership was lost, or the loops could not be started. The process should end: others lead. */
  readonly ended: Promise<void>;
  /** Stops the loops, then gives the leases back. */
  stop(): Promise<void>;
}

export const defaultControllerManagerLeaderElection = (): LeaderElectionConfiguration => defaultLeaderElection(component);

/** Starts the loops, at once or when this process leads. Throws for an unknown controller name. */
export function runKubeControllerManager(
  options: KubeControllerManagerOptions,
  deps: KubeControllerManagerDeps,
): RunningControllerManager {
  const { clock, rng, logger, metrics = createMetrics() } = deps;
  const { leaderElection: election, leaderMigration: migration, identity, controllerStartIntervalMs: intervalMs = 0 } = options;
  const loops = createControllers(options.config).map((one) => {
    const concurrency = options.concurrency?.[one.name];
    return concurrency === undefined ? one : { ...one, concurrency };
  });
  const chosen = selectControllers([...loops, ...cloudLoops, ...absentLoops], options.controllers);
  const sets = new Set<ControllerSet>();
  const own = { ...deps, metrics };
  const queueMetrics = workQueueMetrics(metrics);
  buildInfo(metrics);

  const leading = runLeading({ election, identity, migration }, own, async (lock, signal) => {
    if (migration) logger.info(`leader migration: starting ${lock === 'main' ? 'main' : 'migrated'} controllers.`);
    const set = new ControllerSet({ ...own, queueMetrics, manager: component });
    sets.add(set);
    try {
      for (const one of chosen) {
        if (migration && lockOf(migration, component, [one.name, ...(one.aliases ?? [])]) !== lock) continue;
        if (isAbsent(one)) {
          // Named one by one it is asked for; under `*` nobody expects it here.
          if (!options.controllers.includes('*')) logger.warn(`Warning: ${one.why}`, { controller: one.name });
          continue;
        }
        set.add(one);
        if (intervalMs > 0) await clock.sleep(intervalMs * (1 + rng.next()), signal).catch(() => {});
      }
      if (!signal.aborted) set.start();
      await untilAborted(signal);
    } finally {
      await set.stop();
      sets.delete(set);
    }
  });
  return {
    ended: leading.lost,
    metrics,
    running: () => [...sets].flatMap((set) => set.names()),
    healthChecks: () => [...leading.checks, ...[...sets].flatMap((set) => set.healthChecks())],
    stop: () => leading.stop(),
  };
}
