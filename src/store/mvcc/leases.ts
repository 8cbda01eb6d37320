// Leases: who holds which keys, and when each one runs out. Time is the clock's; what an expiry does is the store's affair.
import type { Clock, Timer } from '#utils';
import { InvalidRequestError, LeaseExistsError, LeaseNotFoundError } from '../errors.ts';
import { leaseRetryMs, leaseSecondsMax, leaseSecondsMin } from '../limits.ts';
import type { LeaseStatus } from '../types.ts';
import type { LeaseGrant } from './log.ts';

interface Lease {
  readonly id: number;
  readonly ttlSeconds: number;
  readonly keys: Set<string>;
  /** Monotonic milliseconds. */
  expiresAt: number;
  timer: Timer | undefined;
}

export class Leases {
  readonly #leases = new Map<number, Lease>();
  readonly #clock: Clock;
  readonly #expired: (id: number) => void;
  #lastId = 0;

  constructor(clock: Clock, expired: (id: number) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  has(id: number): boolean {
    return this.#leases.has(id);
  }

  /** Checks a grant and chooses its id; `add` then makes it. */
  plan(ttlSeconds: number, id: number): LeaseGrant {
    if (!Number.isSafeInteger(id) || id < 0) throw new InvalidRequestError('etcdserver: lease ID is out of range');
    if (!(ttlSeconds <= leaseSecondsMax)) throw new InvalidRequestError('etcdserver: too large lease TTL');
    if (id !== 0 && this.#leases.has(id)) throw new LeaseExistsError();
    return { id: id === 0 ? this.#nextId() : id, ttlSeconds: Math.max(leaseSecondsMin, Math.ceil(ttlSeconds)) };
  }

  add(grant: LeaseGrant): void {
    const lease: Lease = { ...grant, keys: new Set(), expiresAt: 0, timer: undefined };
    this.#leases.set(grant.id, lease);
    this.#renew(lease);
    this.#arm(lease);
  }

  /** Starts the full time again; answers the seconds. */
  keepAlive(id: number): number {
    const lease = this.#get(id);
    this.#renew(lease);
    return lease.ttlSeconds;
  }

  /** Ends a lease; answers the keys it held, and what puts it back without them. */
  remove(id: number): { keys: string[]; restore(): void } {
    const lease = this.#get(id);
    const keys = [...lease.keys];
    lease.timer?.cancel();
    this.#leases.delete(id);
    const restore = (): void => {
      lease.keys.clear();
      this.#leases.set(id, lease);
      this.#arm(lease, leaseRetryMs);
    };
    return { keys, restore };
  }

  /** A lease that has run out but could not be ended is tried again a moment later. */
  postpone(id: number): void {
    const lease = this.#leases.get(id);
    if (lease) this.#arm(lease, leaseRetryMs);
  }

  attach(id: number, key: string): void {
    if (id !== 0) this.#leases.get(id)?.keys.add(key);
  }

  detach(id: number, key: string): void {
    if (id !== 0) this.#leases.get(id)?.keys.delete(key);
  }

  /** What was granted, without what is left of it. */
  grants(): LeaseGrant[] {
    return Array.from(this.#leases.values(), ({ id, ttlSeconds }) => ({ id, ttlSeconds }));
  }
  list(): LeaseStatus[] {
    return [...this.#leases.keys()].flatMap((id) => this.status(id) ?? []);
  }
  status(id: number): LeaseStatus | undefined {
    const lease = this.#leases.get(id);
    if (!lease) return undefined;
    const { ttlSeconds, expiresAt, keys } = lease;
    const remainingMs = expiresAt - this.#clock.monotonic();
    return { id, ttlSeconds, remainingSeconds: Math.max(0, Math.floor(remainingMs / 1000)), keys: [...keys] };
  }

  stop(): void {
    for (const lease of this.#leases.values()) lease.timer?.cancel();
  }

  #get(id: number): Lease {
    const lease = this.#leases.get(id);
    if (!lease) throw new LeaseNotFoundError();
    return lease;
  }

  #nextId(): number {
    do this.#lastId++;
    while (this.#leases.has(this.#lastId));
    return this.#lastId;
  }

  #renew(lease: Lease): void {
    lease.expiresAt = this.#clock.monotonic() + lease.ttlSeconds * 1000;
  }

  /** One timer per lease; renewals only move `expiresAt`, and the timer looks again when it fires. */
  #arm(lease: Lease, delayMsMin = 0): void {
    const timerMsMax = 2 ** 31 - 1;
    const delayMs = Math.min(timerMsMax, Math.max(delayMsMin, lease.expiresAt - this.#clock.monotonic()));
    lease.timer?.cancel();
    lease.timer = this.#clock.setTimer(delayMs, () => {
      if (this.#clock.monotonic() < lease.expiresAt) this.#arm(lease);
      else this.#expired(lease.id);
    });
  }
}
