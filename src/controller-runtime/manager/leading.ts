// Leads by the manager's own lease, and, while loops migrate, by the shared one as well: first the own, then the other (KEP-2436). A lease that is
// lost ends everything at once; a lease is only given back when the work under it has ended, so that two never act at a time.
import { type KubeClient, runLeaderElection } from '#client';
import type { HealthCheck, LeaderElectionConfiguration, LeaderMigrationConfiguration, Lock, Metrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';

/** How late the leader may renew before /healthz says so (upstream's LeaderHealthzAdaptor). */
const healthSlackMs = 20_000;

export interface LeadingOptions {
  election: LeaderElectionConfiguration;
  /** Unique per process. */
  identity: string;
  /** Absent: all loops run under the own lease. */
  migration?: LeaderMigrationConfiguration | undefined;
}

export interface LeadingDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
}

/** Does the work that belongs to a lock until `signal` aborts, and resolves when all of it has ended. When it rejects, the process stops leading. */
export type LeadingWork = (lock: Exclude<Lock, 'none'>, signal: AbortSignal) => Promise<void>;

export interface Leading {
  /** Checks for /healthz; the list is empty without leader election. */
  readonly checks: readonly HealthCheck[];
  /** Resolves when a lease is lost or work under it failed: the process should end, others lead. Never while `stop` is all that happened. */
  readonly lost: Promise<void>;
  /** Ends the work, then gives the leases back. */
  stop(): Promise<void>;
}

interface Term {
  lease: string;
  leading: boolean;
  renewedAtMs: number;
}

class LeaseLeading implements Leading {
  readonly checks: readonly HealthCheck[];
  readonly lost: Promise<void>;
  readonly #options: LeadingOptions;
  readonly #deps: LeadingDeps;
  readonly #work: LeadingWork;
  readonly #abort = new AbortController();
  readonly #terms: Term[] = [];
  readonly #elections: Promise<void>[] = [];
  #markLost: () => void = () => {};
  #stopping = false;

  constructor(options: LeadingOptions, deps: LeadingDeps, work: LeadingWork) {
    this.#options = options;
    this.#deps = deps;
    this.#work = work;
    this.lost = new Promise((resolve) => {
      this.#markLost = resolve;
    });
    this.checks = options.election.leaderElect ? [{ name: 'leaderElection', check: () => this.#check() }] : [];
  }
  start(): this {
    const { election } = this.#options;
    if (election.leaderElect) this.#elections.push(this.#elect('main', election.resourceName));
    else this.#elections.push(this.#guarded('main', this.#abort.signal));
    return this;
  }
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#abort.abort();
    // The second election is only there once the first is won.
    for (let index = 0; index < this.#elections.length; index++) await this.#elections[index];
  }

  #check(): void {
    const { leaseDurationMs } = this.#options.election;
    for (const { lease, leading, renewedAtMs } of this.#terms)
      if (leading && this.#deps.clock.monotonic() - renewedAtMs > leaseDurationMs + healthSlackMs)
        throw new Error(`failed election to renew leadership on lease ${lease}`);
  }
  #fail(): void {
    if (this.#stopping) return;
    this.#markLost();
    this.#abort.abort();
  }
  async #guarded(lock: Exclude<Lock, 'none'>, signal: AbortSignal): Promise<void> {
    try {
      await this.#work(lock, signal);
    } catch (error) {
      if (!signal.aborted) this.#deps.logger.error('error running controllers', { error: describe(error) });
    }
    // Work that ends before its signal aborts has failed.
    if (!signal.aborted) this.#fail();
  }
  #elect(lock: Exclude<Lock, 'none'>, lease: string): Promise<void> {
    const { election, identity, migration } = this.#options;
    const term: Term = { lease, leading: false, renewedAtMs: 0 };
    const master = this.#deps.metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads by a lease: 1 it does, 0 it stands by.',
      labels: ['name'],
    });
    master.set(0, lease);
    this.#terms.push(term);
    const ended = (): void => {
      if (!term.leading) return;
      term.leading = false;
      master.set(0, lease);
      if (this.#stopping) return;
      this.#deps.logger.error('leaderelection lost', { lease });
      this.#fail();
    };
    return runLeaderElection(
      {
        ...this.#deps,
        namespace: election.resourceNamespace,
        name: lease,
        identity,
        leaseDurationMs: election.leaseDurationMs,
        renewDeadlineMs: election.renewDeadlineMs,
        retryPeriodMs: election.retryPeriodMs,
        onStartedLeading: (signal) => {
          term.leading = true;
          master.set(1, lease);
          // Told at once, and not when the work has ended: what hangs must not keep the process alive.
          signal.addEventListener('abort', ended, { once: true });
          if (lock === 'main' && migration) this.#elections.push(this.#elect('migration', migration.leaderName));
          return this.#guarded(lock, signal);
        },
        onRenewed: () => {
          term.renewedAtMs = this.#deps.clock.monotonic();
        },
        onStoppedLeading: () => {},
      },
      this.#abort.signal,
    );
  }
}

/** Resolves when the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Starts to lead, or to wait for it. Without leader election the work of the main lock starts at once, and nothing migrates. */
export const runLeading = (options: LeadingOptions, deps: LeadingDeps, work: LeadingWork): Leading =>
  new LeaseLeading(options, deps, work).start();
