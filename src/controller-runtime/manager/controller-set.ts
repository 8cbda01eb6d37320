// The loops that a manager runs under one lock: shared informers, one recorder and one identity each; started together, stopped together.
import { createEventRecorder, createInformerFactory, type InformerFactory, type KubeClient } from '#client';
import { type HealthCheck, type Metrics, type Supervised, Supervisor, type WorkQueueMetrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import type { Decisions } from '../decisions.ts';
import { type RunningController, startController } from '../executor.ts';
import type { ControllerDefinition } from '../types.ts';

export interface ControllerSetDeps {
  /** The manager's own identity: reads. */
  client: KubeClient;
  /** The identity a loop writes with (`--use-service-account-credentials`), by its service account; default: the manager's own. */
  clientFor?(serviceAccount: string): KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
  /** Metrics of queues by the loops' names; shared by all sets of a process. */
  queueMetrics(queue: string): WorkQueueMetrics;
  /** Label of `running_managed_controllers`. */
  manager: string;
  decisions?: Decisions;
  /** The supervisor of the process, where it has one. */
  supervisor?: Supervisor | undefined;
}

interface Entry {
  name: string;
  running: Promise<Supervised<RunningController>>;
  metric: string;
}

export class ControllerSet {
  readonly informers: InformerFactory;
  readonly #deps: ControllerSetDeps;
  readonly #entries: Entry[] = [];
  readonly #supervisor: Supervisor;

  constructor(deps: ControllerSetDeps) {
    this.#deps = deps;
    this.#supervisor = deps.supervisor ?? new Supervisor(deps);
    if (!deps.supervisor) this.#supervisor.countIn(deps.metrics);
    this.informers = createInformerFactory(deps);
  }
  /** `metric`: the loop's name in metrics, where it has another there. It works once `start` is called. */
  add(definition: ControllerDefinition, metric = definition.name): void {
    const { name } = definition;
    const begin = (): RunningController => this.#begin(definition);
    // Each is a failure domain of its own: an exception in one loop restarts that loop.
    const running = this.#supervisor.run(`${this.#deps.manager}/${name}`, begin, { quiet: true, retryFirst: true });
    this.#entries.push({ name, running, metric });
    this.#count(metric, true);
  }
  #begin(definition: ControllerDefinition): RunningController {
    const { client, clientFor, clock, logger, decisions, metrics, queueMetrics } = this.#deps;
    const account = definition.serviceAccount ?? definition.name;
    const own = (account !== '' && clientFor?.(account)) || client;
    const recorder = createEventRecorder({ client: own, clock, logger, component: definition.eventSource ?? definition.name });
    const controller = startController(definition, {
      client: own,
      informers: this.informers,
      recorder,
      clock,
      logger,
      metrics,
      queueMetrics,
      ...(decisions && { decisions }),
    });
    return {
      name: controller.name,
      queueLength: () => controller.queueLength(),
      async stop() {
        await controller.stop();
        await recorder.flush();
      },
    };
  }
  start(): void {
    this.informers.start();
  }
  names(): string[] {
    return this.#entries.map(({ name }) => name);
  }
  /** One for each loop: it was started. */
  healthChecks(): HealthCheck[] {
    return this.names().map((name) => ({ name, check() {} }));
  }
  /** Resolves when all work in flight has ended and its events are written. */
  async stop(): Promise<void> {
    const stopping = this.#entries.splice(0);
    for (const { metric } of stopping) this.#count(metric, false);
    await Promise.all(stopping.map(async ({ running }) => (await running).stop()));
    this.informers.stop();
  }
  #count(metric: string, on: boolean): void {
    const running = this.#deps.metrics.gauge({
      name: 'running_managed_controllers',
      help: 'Whether a controller runs in a manager.',
      labels: ['name', 'manager'],
    });
    running.set(on ? 1 : 0, metric, this.#deps.manager);
  }
}
