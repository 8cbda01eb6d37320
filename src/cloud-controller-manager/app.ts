// The cloud-controller-manager: waits to lead, starts the provider, starts the loops (k8s.io/cloud-provider app/controllermanager.go).
import { checkedProvider, type CloudProvider } from '#cloud-provider';
import type { KubeClient } from '#client';
import {
  buildInfo,
  createMetrics,
  type HealthCheck,
  type LeaderElectionConfiguration,
  type LeaderMigrationConfiguration,
  type Lock,
  lockOf,
  type Metrics,
  type Supervisor,
  type WorkQueueMetrics,
  workQueueMetrics,
} from '#component-base';
import type { Decisions } from '#controller-runtime';
import { ControllerSet, type Leading, runLeading, selectControllers, untilAborted } from '#controller-runtime/manager';
import type { Clock, Logger, Rng } from '#utils';
import type { CloudControllerEntry } from './controller-entry.ts';
import { cloudControllers, type CloudControllersConfig } from './controllers.ts';
import { apiserverPollMs, apiserverWaitMs } from './limits.ts';
import { cloudMetrics } from './metrics.ts';

const component = 'cloud-controller-manager';

export interface CloudControllerManagerOptions {
  /** Name of the provider: scheme of provider IDs. */
  providerName: string;
  cloud: CloudProvider;
  /** `--controllers`. */
  controllers: string[];
  config: CloudControllersConfig;
  leaderElection: LeaderElectionConfiguration;
  /** `--enable-leader-migration`: loops that run under a lease shared with kube-controller-manager. */
  leaderMigration?: LeaderMigrationConfiguration | undefined;
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
  /** The supervisor of the process, where it has one: each loop runs under it. */
  supervisor?: Supervisor | undefined;
  /** Called at once when leadership is lost, while `ended` waits until the loops have stopped. */
  onLeadershipLost?(): void;
}

export interface RunningCloudControllerManager {
  /** Names of the loops that run here; empty while another process leads. */
  running(): string[];
  /** The checks for /healthz. */
  healthChecks(): HealthCheck[];
  readonly metrics: Metrics;
  /** Resolves when a lease is lost, or the loops could not be started: the process should end, and at once, for another one acts. */
  readonly ended: Promise<void>;
  /** Stops the loops, then gives the leases back. */
  stop(): Promise<void>;
}

class Manager implements RunningCloudControllerManager {
  readonly metrics: Metrics;
  readonly #options: CloudControllerManagerOptions;
  readonly #deps: CloudControllerManagerDeps;
  readonly #chosen: CloudControllerEntry[];
  readonly #sets = new Set<ControllerSet>();
  readonly #queueMetrics: (queue: string) => WorkQueueMetrics;
  readonly #leading: Leading;
  readonly #abort = new AbortController();
  #initialized: Promise<void> | undefined;

  constructor(options: CloudControllerManagerOptions, deps: CloudControllerManagerDeps) {
    this.#options = { ...options, cloud: checkedProvider(options.cloud) };
    this.#deps = deps;
    this.metrics = deps.metrics ?? createMetrics();
    this.#queueMetrics = workQueueMetrics(this.metrics);
    buildInfo(this.metrics);
    const { cloud, providerName, config, controllers, leaderElection, identity, leaderMigration: migration } = this.#options;
    if (!cloud.hasClusterId() && !options.allowUntaggedCloud)
      throw new Error(
        'no ClusterID found. A ClusterID is required for the cloud provider to function properly. This check can be bypassed by setting the allow-untagged-cloud option',
      );
    const all = cloudControllers(cloud, providerName, config, cloudMetrics(this.metrics), deps);
    this.#chosen = selectControllers(all, controllers);
    for (const { name, problem } of this.#chosen) if (problem !== undefined) throw new Error(`controller "${name}": ${problem}`);
    // Upstream ends here, too: it could make routes, but never tell which ones are its own to remove.
    const routed = this.#chosen.some(({ metric }) => metric === 'route') && config.configureCloudRoutes && cloud.routes;
    if (routed && config.clusterCidrs.length === 0)
      throw new Error('node-route-controller needs --cluster-cidr; without routes: --configure-cloud-routes=false');
    const own = { ...deps, metrics: this.metrics };
    this.#leading = runLeading({ election: leaderElection, identity, migration }, own, (lock, signal) => this.#run(lock, signal));
    void this.#leading.lost.then(() => {
      this.#abort.abort();
      deps.onLeadershipLost?.();
    });
  }
  get ended(): Promise<void> {
    return this.#leading.lost;
  }
  running(): string[] {
    return [...this.#sets].flatMap((set) => set.names());
  }
  healthChecks(): HealthCheck[] {
    return [...this.#leading.checks, ...[...this.#sets].flatMap((set) => set.healthChecks())];
  }
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#leading.stop();
  }

  /** The loops of one lock, until `signal` aborts. */
  async #run(lock: Lock, signal: AbortSignal): Promise<void> {
    const { leaderMigration: migration, cloud } = this.#options;
    const { logger } = this.#deps;
    if (migration) logger.info(`leader migration: starting ${lock === 'main' ? 'main' : 'migrated'} controllers.`);
    await this.#apiserverReady(signal);
    if (signal.aborted) return;
    await Promise.race([this.#initialize(), untilAborted(signal)]);
    if (signal.aborted) return;
    const set = new ControllerSet({
      ...this.#deps,
      metrics: this.metrics,
      queueMetrics: this.#queueMetrics,
      manager: component,
    });
    this.#sets.add(set);
    try {
      cloud.setInformers?.(set.informers);
      const mine = migration
        ? this.#chosen.filter(({ name, aliases }) => lockOf(migration, component, [name, ...aliases]) === lock)
        : this.#chosen;
      await this.#startAll(mine, set, signal);
      await untilAborted(signal);
    } finally {
      await set.stop();
      this.#sets.delete(set);
    }
  }
  async #startAll(entries: readonly CloudControllerEntry[], set: ControllerSet, signal: AbortSignal): Promise<void> {
    const { clock, rng, logger } = this.#deps;
    const intervalMs = this.#options.controllerStartIntervalMs ?? 0;
    for (const { name, metric, make } of entries) {
      if (signal.aborted) return;
      const definition = make();
      if ('notStarted' in definition) {
        logger.warn(`skipping "${name}"`, { reason: definition.notStarted });
        continue;
      }
      set.add(definition, metric);
      if (intervalMs > 0) await clock.sleep(intervalMs * (1 + rng.next()), signal).catch(() => {});
    }
    logger.info('started cloud controllers', { controllers: set.names() });
    if (!signal.aborted) set.start();
  }
  /** Once, whatever the number of locks. */
  #initialize(): Promise<void> {
    const { client, clientFor } = this.#deps;
    this.#initialized ??= (async () =>
      this.#options.cloud.initialize?.({ client: (name) => clientFor?.(name) ?? client, signal: this.#abort.signal }))();
    return this.#initialized;
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
}

/** Starts the manager. Throws for an unknown controller, and for a cloud without cluster id. */
export const runCloudControllerManager = (
  options: CloudControllerManagerOptions,
  deps: CloudControllerManagerDeps,
): RunningCloudControllerManager => new Manager(options, deps);
