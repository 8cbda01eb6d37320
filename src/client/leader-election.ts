// Leader election on a Lease (client-go tools/leaderelection, resourcelock.LeaseLock): the holder renews, others watch the record age
// by their own clock, so no clocks need to agree.
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import { formatMicroTime, type KubeObject } from '#apimachinery/meta';
import type { Clock, Logger, Rng, Timer } from '#utils';
import type { KubeClient } from './types.ts';

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}
interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export interface LeaderElectionOptions {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  namespace: string;
  name: string;
  /** Unique per process. */
  identity: string;
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  /** Runs while leading; `signal` aborts when leadership is lost or `run`'s signal aborts. */
  onStartedLeading(signal: AbortSignal): Promise<void> | void;
  onStoppedLeading(): void;
  onNewLeader?(identity: string): void;
  /** The lease was written by this process. */
  onRenewed?(): void;
}

const retryJitter = 1.2;
/**
 * How long a candidate that has to end waits for the answer to its last call: without a majority of etcd there is none, and others take over
 * after a while all the same.
 */
const lastAnswerMs = 2_000;
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

const defaults = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** The Lease as one candidate sees and writes it. */
class LeaseLock {
  readonly #options: LeaderElectionOptions & typeof defaults;
  readonly #leases: ReturnType<KubeClient['resource']>;
  #observed: Lease | undefined;
  #observedAtMs = 0;
  #leader = '';

  constructor(options: LeaderElectionOptions & typeof defaults) {
    this.#options = options;
    this.#leases = options.client.resource<Lease>(leases, options.namespace);
  }

  /** Whether this candidate holds the lease, as far as it knows. */
  get isHeld(): boolean {
    return this.#leader === this.#options.identity;
  }

  /** Whether the lease is this candidate's from now on. */
  async tryAcquireOrRenew(): Promise<boolean> {
    if (await this.#renewAtOnce()) return true;
    const { name, identity, leaseDurationMs, clock } = this.#options;
    let doing = 'Error retrieving lease lock';
    try {
      const current: Lease = await this.#leases.get(name);
      this.#observe(current);
      doing = 'Failed to update lease';
      const held = current.spec?.holderIdentity;
      const heldMs = (current.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
      if (held && held !== identity && clock.monotonic() - this.#observedAtMs < heldMs) return false;
      await this.#write(current);
      return true;
    } catch (error) {
      if (isNotFound(error)) return this.#create();
      this.#failed(doing, error);
      return false;
    }
  }

  /** Gives the lease up, where it is still held. Never rejects. */
  async release(): Promise<void> {
    if (this.#observed?.spec?.holderIdentity !== this.#options.identity) return;
    const spec = { ...this.#record(this.#observed), holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#leases.update({ ...this.#observed, spec } as Lease).catch((error: unknown) => {
      this.#options.logger.debug('lease not released', { error: String(error) });
    });
  }

  #observe(lease: Lease): void {
    const { clock, onNewLeader } = this.#options;
    if (lease.metadata.resourceVersion !== this.#observed?.metadata.resourceVersion) this.#observedAtMs = clock.monotonic();
    this.#observed = lease;
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder === this.#leader) return;
    this.#leader = holder;
    if (holder) onNewLeader?.(holder);
  }
  #record(current: Lease | undefined): LeaseSpec {
    const { clock, identity, leaseDurationMs } = this.#options;
    const now = formatMicroTime(clock.now());
    const mine = current?.spec?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.floor(leaseDurationMs / 1000)),
      acquireTime: mine ? (current?.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (current?.spec?.leaseTransitions ?? 0) + (mine || !current ? 0 : 1),
    };
  }
  async #write(current: Lease): Promise<void> {
    this.#observe(await this.#leases.update({ ...current, spec: this.#record(current) } as Lease));
    this.#options.onRenewed?.();
  }
  /** The leader writes over what it wrote last; when that fails, the lease is read like everybody else does. */
  async #renewAtOnce(): Promise<boolean> {
    if (!this.#observed || !this.isHeld) return false;
    try {
      await this.#write(this.#observed);
      return true;
    } catch (error) {
      this.#failed('Failed to update lease optimistically, falling back to slow path', error);
      return false;
    }
  }
  async #create(): Promise<boolean> {
    const { name, namespace, onRenewed } = this.#options;
    const spec = this.#record(undefined);
    try {
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
      this.#observe(await this.#leases.create(lease));
      onRenewed?.();
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) this.#failed('Error initially creating lease lock', error);
      return false;
    }
  }
  /** Who may not have the lease, or cannot reach it, says so each time, as upstream does: nothing else tells why nobody works. */
  #failed(what: string, error: unknown): void {
    const { logger, namespace, name } = this.#options;
    logger.error(what, { lock: `${namespace}/${name}`, err: error instanceof Error ? error.message : String(error) });
  }
}

/**
 * What `attempt` gives; undefined when that takes longer: who gets no answer must not go on as if it led. Once `signal` aborts, the answer is waited for only as
 * long as somebody usually has it.
 */
async function within<T>(clock: Clock, limitMs: number, attempt: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let late: Timer | undefined;
  let hurry = (): void => {};
  const passed = new Promise<undefined>((resolve) => {
    const wait = (ms: number): void => {
      late?.cancel();
      late = clock.setTimer(ms, () => resolve(undefined));
    };
    hurry = () => wait(Math.min(limitMs, lastAnswerMs));
    wait(limitMs);
  });
  if (signal.aborted) hurry();
  else signal.addEventListener('abort', hurry, { once: true });
  const answer = await Promise.race([attempt, passed]);
  signal.removeEventListener('abort', hurry);
  late?.cancel();
  return answer;
}

/** Competes until `signal` aborts or leadership was held and lost; then releases the lease if still held. */
export async function runLeaderElection(given: LeaderElectionOptions, signal: AbortSignal): Promise<void> {
  const options = { ...defaults, ...given };
  const { clock, rng, logger, renewDeadlineMs, retryPeriodMs, namespace, name } = options;
  const lock = new LeaseLock(options);
  while (!(await within(clock, renewDeadlineMs, lock.tryAcquireOrRenew(), signal))) {
    await clock.sleep(retryPeriodMs * (1 + rng.next() * (retryJitter - 1)), signal).catch(() => {});
    if (signal.aborted) return;
  }
  logger.info('successfully acquired lease', { lease: `${namespace}/${name}` });
  const leading = new AbortController();
  const stop = () => leading.abort();
  signal.addEventListener('abort', stop, { once: true });
  const work = (async () => options.onStartedLeading(leading.signal))();
  await keep(lock, options, signal);
  signal.removeEventListener('abort', stop);
  leading.abort();
  await work.catch((error: unknown) => logger.error('work under the lease failed', { error: String(error) }));
  if (signal.aborted) await within(clock, renewDeadlineMs, lock.release(), signal);
  options.onStoppedLeading();
}

/** Renews the lease until it is lost or `signal` aborts. */
async function keep(lock: LeaseLock, options: LeaderElectionOptions & typeof defaults, signal: AbortSignal): Promise<void> {
  const { clock, logger, renewDeadlineMs, retryPeriodMs, namespace, name } = options;
  let renewedAtMs = clock.monotonic();
  while (!signal.aborted) {
    await clock.sleep(retryPeriodMs, signal).catch(() => {});
    if (signal.aborted) return;
    const leftMs = renewedAtMs + renewDeadlineMs - clock.monotonic();
    if (await within(clock, leftMs, lock.tryAcquireOrRenew(), signal)) renewedAtMs = clock.monotonic();
    else if (signal.aborted) return;
    else if (!lock.isHeld || clock.monotonic() - renewedAtMs >= renewDeadlineMs) {
      logger.error('failed to renew lease', { lease: `${namespace}/${name}` });
      return;
    }
  }
}
