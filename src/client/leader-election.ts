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
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** Competes until `signal` aborts or leadership was held and lost; then releases the lease if still held. */
export async function runLeaderElection(options: LeaderElectionOptions, signal: AbortSignal): Promise<void> {
  const { clock, rng, logger, identity, leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const resource = options.client.resource<Lease>(leases, options.namespace);
  let observed: Lease | undefined;
  let observedAtMs = 0;
  let leader = '';

  const observe = (lease: Lease): void => {
    if (lease.metadata.resourceVersion !== observed?.metadata.resourceVersion) observedAtMs = clock.monotonic();
    observed = lease;
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== leader) {
      leader = holder;
      if (holder) options.onNewLeader?.(holder);
    }
  };
  const record = (current: Lease | undefined): LeaseSpec => {
    const now = formatMicroTime(clock.now());
    const mine = current?.spec?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.floor(leaseDurationMs / 1000)),
      acquireTime: mine ? (current?.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (current?.spec?.leaseTransitions ?? 0) + (mine || !current ? 0 : 1),
    };
  };
  const write = async (current: Lease): Promise<void> => {
    observe(await resource.update({ ...current, spec: record(current) }));
    options.onRenewed?.();
  };
  /** Who may not have the lease, or cannot reach it, says so each time, as upstream does: nothing else tells why nobody works. */
  const failed = (what: string, error: unknown): void =>
    logger.error(what, {
      lock: `${options.namespace}/${options.name}`,
      err: error instanceof Error ? error.message : String(error),
    });
  /** The leader writes over what it wrote last; when that fails, the lease is read like everybody else does. */
  const renewAtOnce = async (): Promise<boolean> => {
    if (!observed || leader !== identity) return false;
    try {
      await write(observed);
      return true;
    } catch (error) {
      failed('Failed to update lease optimistically, falling back to slow path', error);
      return false;
    }
  };
  const tryAcquireOrRenew = async (): Promise<boolean> => {
    if (await renewAtOnce()) return true;
    let doing = 'Error retrieving lease lock';
    try {
      const current = await resource.get(options.name);
      observe(current);
      doing = 'Failed to update lease';
      const held = current.spec?.holderIdentity;
      const heldMs = (current.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
      if (held && held !== identity && clock.monotonic() - observedAtMs < heldMs) return false;
      await write(current);
      return true;
    } catch (error) {
      if (isNotFound(error)) return create();
      failed(doing, error);
      return false;
    }
  };
  const create = async (): Promise<boolean> => {
    try {
      const metadata = { name: options.name, namespace: options.namespace };
      observe(await resource.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: record(undefined) }));
      options.onRenewed?.();
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) failed('Error initially creating lease lock', error);
      return false;
    }
  };

  /** What `attempt` gives; undefined when that takes longer: who gets no answer must not go on as if it led. */
  const within = async <T>(limitMs: number, attempt: Promise<T>): Promise<T | undefined> => {
    let late: Timer | undefined;
    const passed = new Promise<undefined>((resolve) => {
      late = clock.setTimer(limitMs, () => resolve(undefined));
    });
    const answer = await Promise.race([attempt, passed]);
    late?.cancel();
    return answer;
  };

  while (!(await within(renewDeadlineMs, tryAcquireOrRenew()))) {
    await clock.sleep(retryPeriodMs * (1 + rng.next() * (retryJitter - 1)), signal).catch(() => {});
    if (signal.aborted) return;
  }
  logger.info('successfully acquired lease', { lease: `${options.namespace}/${options.name}` });
  const leading = new AbortController();
  const stop = () => leading.abort();
  signal.addEventListener('abort', stop, { once: true });
  const work = (async () => options.onStartedLeading(leading.signal))();
  let renewedAtMs = clock.monotonic();
  while (!signal.aborted) {
    await clock.sleep(retryPeriodMs, signal).catch(() => {});
    if (signal.aborted) break;
    const leftMs = renewedAtMs + renewDeadlineMs - clock.monotonic();
    if (await within(leftMs, tryAcquireOrRenew())) renewedAtMs = clock.monotonic();
    else if (leader !== identity || clock.monotonic() - renewedAtMs >= renewDeadlineMs) {
      logger.error('failed to renew lease', { lease: `${options.namespace}/${options.name}` });
      break;
    }
  }
  signal.removeEventListener('abort', stop);
  leading.abort();
  await work.catch((error: unknown) => logger.error('work under the lease failed', { error: String(error) }));
  if (signal.aborted && observed?.spec?.holderIdentity === identity)
    await within(
      renewDeadlineMs,
      resource
        .update({ ...observed, spec: { ...record(observed), holderIdentity: '', leaseDurationSeconds: 1 } })
        .catch((error: unknown) => logger.debug('lease not released', { error: String(error) })),
    );
  options.onStoppedLeading();
}
