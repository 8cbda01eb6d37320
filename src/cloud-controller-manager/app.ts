// The cloud-controller-manager: waits to lead, starts the provider, starts the loops (k8s.io/cloud-provider app/controllermanager.go).
import type { CloudProvider } from '#cloud-provider';
import { createEventRecorder, createInformerFactory, type InformerFactory, type KubeClient, runLeaderElection } from '#client';
import { createMetrics, type HealthCheck, type LeaderElectionConfiguration, type Metrics, pingCheck } from '#component-base';
import { type Decisions, type RunningController, startController } from '#controller-runtime';
import type { Clock, Logger, Rng } from '#utils';
import { chooseControllers, type CloudControllerEntry, cloudControllers, type CloudControllersConfig } from './controllers.ts';
import { apiserverPollMs, apiserverWaitMs, leaderHealthSlackMs } from './limits.ts';
import { cloudMetrics } from './metrics.ts';

export interface CloudControllerManagerOptions {
  /** Name of the provider: scheme of provider IDs. */
  providerName: string;
  cloud: CloudProvider;
  /** `--controllers`. */
  controllers: string[];
  config: CloudControllersConfig;
  leaderElection: LeaderElectionConfiguration;
  /** Unique per process, for leader election. */
  identity: string;
  /** `--controller-start-interval`, in milliseconds; up to twice as long. */
  controllerStartIntervalMs?: number;
  /** `--allow-untagged-cloud`. */
  allowUntaggedCloud?: boolean;
}

export interface CloudControllerManagerDeps {
  /** The manager's own identity: reads and leader election. */
  client: KubeClient;
  /** The identity a loop writes with (`--use-service-account-credentials`), by its service account; default: the manager's own. */
  clientFor?(serviceAccount: string): KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics?: Metrics;
  /** Kept for explanation. */
  decisions?: Decisions;
  /** Leadership is lost: the process should end. All loops have stopped. */
  onLeadershipLost?(): void;
}

export interface RunningCloudControllerManager {
  /** Names of the loops that run here; empty while another process leads. */
  running(): string[];
  /** For /healthz. */
  healthChecks(): HealthCheck[];
  readonly metrics: Metrics;
  /** Stops the loops and gives the lease back. */
  stop(): Promise<void>;
}

class Manager implements RunningCloudControllerManager {
  readonly metrics: Metrics;
  readonly #options: CloudControllerManagerOptions;
  readonly #deps: CloudControllerManagerDeps;
  readonly #chosen: CloudControllerEntry[];
  readonly #abort = new AbortController();
  readonly #recorders: { flush(): Promise<void> }[] = [];
  #informers: InformerFactory | undefined;
  #controllers: RunningController[] = [];
  #election: Promise<void> = Promise.resolve();
  #leading = false;
  #renewedAtMs = 0;

  constructor(options: CloudControllerManagerOptions, deps: CloudControllerManagerDeps) {
    this.#options = options;
    this.#deps = deps;
    this.metrics = deps.metrics ?? createMetrics();
    const { cloud, providerName, config, controllers } = options;
    if (!cloud.hasClusterId() && !options.allowUntaggedCloud)
      throw new Error(
        'no ClusterID found. A ClusterID is required for the cloud provider to function properly. This check can be bypassed by setting the allow-untagged-cloud option',
      );
    this.#chosen = chooseControllers(cloudControllers(cloud, providerName, config, cloudMetrics(this.metrics)), controllers);
  }
  run(): void {
    const { leaderElection, identity } = this.#options;
    const { signal } = this.#abort;
    const guarded = (leading: AbortSignal): Promise<void> =>
      this.#start(leading).catch((error: unknown) => {
        if (!leading.aborted) this.#deps.logger.error('controllers could not be started', { error: String(error) });
      });
    if (!leaderElection.leaderElect) {
      this.#election = guarded(signal);
      return;
    }
    this.#election = runLeaderElection(
      {
        ...this.#deps,
        namespace: leaderElection.resourceNamespace,
        name: leaderElection.resourceName,
        identity,
        leaseDurationMs: leaderElection.leaseDurationMs,
        renewDeadlineMs: leaderElection.renewDeadlineMs,
        retryPeriodMs: leaderElection.retryPeriodMs,
        onStartedLeading: guarded,
        onRenewed: () => {
          this.#renewedAtMs = this.#deps.clock.monotonic();
        },
        onStoppedLeading: () => {
          this.#leading = false;
          void this.#halt().then(() => {
            if (!signal.aborted) this.#deps.onLeadershipLost?.();
          });
        },
      },
      signal,
    );
  }
  running(): string[] {
    return this.#controllers.map(({ name }) => name);
  }
  healthChecks(): HealthCheck[] {
    const leaderElection: HealthCheck = {
      name: 'leaderElection',
      check: () => {
        const { leaseDurationMs } = this.#options.leaderElection;
        const lateMs = this.#deps.clock.monotonic() - this.#renewedAtMs - leaseDurationMs;
        if (this.#leading && lateMs > leaderHealthSlackMs)
          throw new Error(`failed election to renew leadership on lease ${this.#options.leaderElection.resourceName}`);
      },
    };
    return [pingCheck, leaderElection, ...this.running().map((name) => ({ name, check() {} }))];
  }
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#halt();
    await this.#election;
    await this.#halt();
  }

  async #start(leading: AbortSignal): Promise<void> {
    const { cloud } = this.#options;
    const { clock, client, clientFor, rng, logger } = this.#deps;
    this.#leading = true;
    await this.#apiserverReady(leading);
    if (leading.aborted) return;
    await cloud.initialize?.({ client: (name) => clientFor?.(name) ?? client, signal: leading });
    const informers = createInformerFactory(this.#deps);
    this.#informers = informers;
    cloud.setInformers?.(informers);
    const intervalMs = this.#options.controllerStartIntervalMs ?? 0;
    for (const entry of this.#chosen) {
      if (leading.aborted) return;
      this.#startOne(entry, informers);
      if (intervalMs > 0) await clock.sleep(intervalMs * (1 + rng.next()), leading).catch(() => {});
    }
    logger.info('started cloud controllers', { controllers: this.running() });
    if (!leading.aborted) informers.start();
  }
  #startOne(entry: CloudControllerEntry, informers: InformerFactory): void {
    const { client, clientFor, clock, logger, decisions } = this.#deps;
    const definition = entry.make();
    if ('notStarted' in definition) {
      logger.warn(`skipping "${entry.name}"`, { reason: definition.notStarted });
      return;
    }
    const own = clientFor?.(definition.serviceAccount ?? definition.name) ?? client;
    const recorder = createEventRecorder({ client: own, clock, logger, component: definition.eventSource ?? definition.name });
    this.#recorders.push(recorder);
    this.#controllers.push(
      startController(definition, { client: own, informers, recorder, clock, logger, ...(decisions && { decisions }) }),
    );
    cloudMetrics(this.metrics).running(entry.metric, true);
  }
  /** Waits a while for the apiserver; then goes on, for the loops wait for it anyway. */
  async #apiserverReady(signal: AbortSignal): Promise<void> {
    const { clock, client, logger } = this.#deps;
    const endMs = clock.monotonic() + apiserverWaitMs;
    const nodes = client.resource({ group: '', version: 'v1', resource: 'nodes' });
    while (!signal.aborted && clock.monotonic() < endMs) {
      try {
        await nodes.list({ limit: 1 });
        return;
      } catch (error) {
        logger.debug('apiserver not ready', { error: String(error) });
        await clock.sleep(apiserverPollMs, signal).catch(() => {});
      }
    }
  }
  async #halt(): Promise<void> {
    const stopping = this.#controllers.splice(0);
    const running = cloudMetrics(this.metrics);
    for (const { metric } of this.#chosen) running.running(metric, false);
    await Promise.all(stopping.map((controller) => controller.stop()));
    this.#informers?.stop();
    await Promise.all(this.#recorders.splice(0).map((recorder) => recorder.flush()));
  }
}

/** Starts the manager. Throws for an unknown controller, and for a cloud without cluster id. */
export function runCloudControllerManager(
  options: CloudControllerManagerOptions,
  deps: CloudControllerManagerDeps,
): RunningCloudControllerManager {
  const manager = new Manager(options, deps);
  manager.run();
  return manager;
}
