// kube-controller-manager: all control loops in one process, behind leader election where several run.
import { createEventRecorder, createInformerFactory, type InformerFactory, type KubeClient, runLeaderElection } from '#client';
import { defaultLeaderElection, type LeaderElectionConfiguration } from '#component-base';
import { type ControllersConfig, createControllers } from '#controllers';
import { type Decisions, type RunningController, startController } from '#controller-runtime';
import type { Clock, Logger, Rng } from '#utils';
import { selectControllers } from './select.ts';

export { type KubeControllerManagerFlags, kubeControllerManagerFlags } from './flags.ts';

export interface KubeControllerManagerOptions {
  /** `--controllers`. */
  controllers: string[];
  config: ControllersConfig;
  leaderElection: LeaderElectionConfiguration;
  /** Unique per process, for leader election. */
  identity: string;
}

export interface KubeControllerManagerDeps {
  /** The manager's own identity: reads and leader election. */
  client: KubeClient;
  /** The identity a loop writes with (`--use-service-account-credentials`); default: the manager's own. */
  clientFor?(controller: string): KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** Kept for explanation. */
  decisions?: Decisions;
}

export interface RunningControllerManager {
  /** Names of the loops that run here; empty while another process leads. */
  running(): string[];
  /** Resolves when leadership was lost, or after `stop`. A process that lost it should end: others lead. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export const defaultControllerManagerLeaderElection = (): LeaderElectionConfiguration =>
  defaultLeaderElection('kube-controller-manager');

/** Starts the loops, at once or when this process leads. Throws for an unknown controller name. */
export function runKubeControllerManager(
  options: KubeControllerManagerOptions,
  deps: KubeControllerManagerDeps,
): RunningControllerManager {
  const definitions = selectControllers(createControllers(options.config), options.controllers);
  const abort = new AbortController();
  let informers: InformerFactory | undefined;
  let controllers: RunningController[] = [];

  const start = (): void => {
    informers = createInformerFactory(deps);
    const shared = informers;
    controllers = definitions.map((definition) => {
      const account = definition.serviceAccount ?? definition.name;
      const client = (account !== '' && deps.clientFor?.(account)) || deps.client;
      const recorder = createEventRecorder({ ...deps, client, component: definition.eventSource ?? definition.name });
      return startController(definition, { ...deps, client, informers: shared, recorder });
    });
    informers.start();
  };
  const halt = async (): Promise<void> => {
    await Promise.all(controllers.splice(0).map((controller) => controller.stop()));
    informers?.stop();
  };

  const { leaderElection } = options;
  const election = leaderElection.leaderElect
    ? runLeaderElection(
        {
          ...deps,
          namespace: leaderElection.resourceNamespace,
          name: leaderElection.resourceName,
          identity: options.identity,
          leaseDurationMs: leaderElection.leaseDurationMs,
          renewDeadlineMs: leaderElection.renewDeadlineMs,
          retryPeriodMs: leaderElection.retryPeriodMs,
          onStartedLeading: start,
          onStoppedLeading: () => void halt(),
        },
        abort.signal,
      )
    : Promise.resolve(start());
  const stopped = new Promise<void>((resolve) => abort.signal.addEventListener('abort', () => resolve(), { once: true }));
  return {
    ended: leaderElection.leaderElect ? election : stopped,
    running: () => controllers.map(({ name }) => name),
    async stop() {
      abort.abort();
      await election;
      await halt();
    },
  };
}
