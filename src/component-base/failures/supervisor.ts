// Runs components of one process each in a failure domain of its own: an exception in one restarts that one, after a pause that grows, and nobody
// else notices. What Kubernetes does for containers, for those that share a process.
import type { Clock, Logger } from '#utils';
import type { HealthCheck } from '../health/index.ts';
import type { Counter, Metrics } from '../metrics/index.ts';
import type { Domain } from './domain.ts';
import { failureCharsMax, failuresKept } from './limits.ts';
import { type Begin, Unit } from './unit.ts';

/** A component that runs. */
export interface Running {
  stop(): Promise<void> | void;
}

/** Something that a component threw. */
export interface ComponentFailure {
  component: string;
  /** `stray`: nobody caught it, so the component was started again, unless it is a lasting one. `caught`: it was caught where it happened, and the component goes on. */
  kind: 'stray' | 'caught';
  /** The handler in which the error was caught. */
  where: string;
  message: string;
  /** The message, with the stack where there is one. */
  text: string;
  /** Milliseconds since the epoch. */
  atMs: number;
}

export interface ComponentStatus {
  component: string;
  state: 'starting' | 'running' | 'waiting' | 'stopped';
  restarts: number;
  /** All of its failures so far. */
  failures: number;
  last?: ComponentFailure;
  /** When it is started again, while it waits. */
  nextStartMs?: number;
}

export interface SupervisorDeps {
  clock: Clock;
  logger: Logger;
}

export interface Supervised<R extends Running> {
  /** The running component; undefined while it waits to be started again. */
  readonly current: R | undefined;
  stop(): Promise<void>;
}

export const failureCounter = (metrics: Metrics): Counter =>
  metrics.counter({
    name: 'sagong_component_failures_total',
    help: 'Exceptions of a component of this process, by whether it was caught where it happened.',
    labels: ['component', 'kind'],
  });

export interface RunOptions {
  /** A first start that fails is tried again like any other. */
  retryFirst?: boolean;
  /** The unit is one of many: `health` shows it only while something is wrong with it. */
  quiet?: boolean;
}

export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #units = new Map<Unit<Running>, RunOptions>();
  /** Components that are never started again, by name. */
  readonly #lasting = new Map<string, ComponentStatus>();
  readonly #failures: ComponentFailure[] = [];
  #counters: { failures: Counter; restarts: Counter } | undefined;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }
  /** From now on failures and restarts are counted there. */
  countIn(metrics: Metrics): void {
    this.#counters = {
      failures: failureCounter(metrics),
      restarts: metrics.counter({
        name: 'sagong_component_restarts_total',
        help: 'Starts of a component of this process after it had failed.',
        labels: ['component'],
      }),
    };
  }

  /** The newest failures of all components, the oldest first. */
  get failures(): readonly ComponentFailure[] {
    return this.#failures;
  }
  status(): ComponentStatus[] {
    return [...this.#lasting.values(), ...[...this.#units.keys()].map((unit) => unit.status())];
  }
  /** One line for each component: they do not make the endpoint fail, for others do their work. */
  healthChecks(): HealthCheck[] {
    return [...this.#units].flatMap(([unit, { quiet }]) =>
      quiet && unit.status().state === 'running'
        ? []
        : [{ name: `component/${unit.name}`, informative: true, check: () => unit.check() }],
    );
  }
  /**
   * Starts a component and keeps it running. Rejects when the first start does; later ones are tried again. `start` is called anew for each life of
   * the component, and must not keep anything of the one before.
   */
  async run<R extends Running>(name: string, start: Begin<R>, options: RunOptions = {}): Promise<Supervised<R>> {
    const unit: Unit<R> = new Unit(name, start, {
      ...this.#deps,
      onFailure: (kind, where, error) => this.#note(name, kind, where, error),
      onRestart: () => this.#counters?.restarts.inc(1, name),
    });
    this.#units.set(unit, options);
    try {
      await unit.start(options.retryFirst ?? false);
    } catch (error) {
      this.#units.delete(unit);
      throw error;
    }
    return {
      get current() {
        return unit.current;
      },
      stop: async () => {
        this.#units.delete(unit);
        await unit.stop();
      },
    };
  }
  /**
   * Gives the failure domain of a component that is never started again, because all others need it: its errors are logged and counted, and it goes on.
   * `onStray` is called with each error that no code caught.
   */
  lasting(component: string, onStray?: (error: unknown) => void): Domain {
    const status: ComponentStatus = { component, state: 'running', restarts: 0, failures: 0 };
    this.#lasting.set(component, status);
    const note = (kind: ComponentFailure['kind'], where: string, error: unknown): void => {
      status.failures++;
      status.last = this.#note(component, kind, where, error);
    };
    return {
      name: component,
      stray: (error) => {
        note('stray', '', error);
        this.#deps.logger.error('component failed and goes on', { component, error: status.last?.text });
        onStray?.(error);
      },
      caught: (where, error) => note('caught', where, error),
    };
  }
  /** Ends all, the last started first. */
  async stop(): Promise<void> {
    for (const unit of [...this.#units.keys()].reverse()) {
      this.#units.delete(unit);
      await unit.stop();
    }
  }

  #note(component: string, kind: ComponentFailure['kind'], where: string, error: unknown): ComponentFailure {
    const message = error instanceof Error ? error.message : String(error);
    const text = (error instanceof Error && error.stack) || message;
    const failure: ComponentFailure = {
      ...{ component, kind, where },
      message: message.slice(0, failureCharsMax),
      text: text.slice(0, failureCharsMax),
      atMs: this.#deps.clock.now(),
    };
    this.#counters?.failures.inc(1, component, kind);
    this.#failures.push(failure);
    if (this.#failures.length > failuresKept) this.#failures.shift();
    return failure;
  }
}
