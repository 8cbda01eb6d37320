// The priority levels of the server as its configuration says them: made, changed and let go of, each with its seats
// (k8s.io/apiserver/pkg/util/flowcontrol, configController). What is mandatory is there whatever the configuration holds. Pure.
import type { FlowSchema, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import { type Asking, borrow, type Bounds, nominalBounds } from './allocation.ts';
import { levelSeatsShareMax } from './limits.ts';
import { FlowMatcher } from './matching.ts';
import { type Queuing, QueueSet } from './queue-set.ts';
import { RetryAfter } from './retry-after.ts';

export interface Level {
  readonly name: string;
  uid: string;
  exempt: boolean;
  /** No longer configured; it goes when its last request is over. */
  quiescing: boolean;
  queues: QueueSet;
  bounds: Bounds;
  /** Seats of one request at most; 0: any. */
  seatsMax: number;
  current: number;
  readonly retryAfter: RetryAfter;
}

export interface Configuration {
  schemas: readonly FlowSchema[];
  levels: readonly PriorityLevelConfiguration[];
}

interface Wanted {
  uid: string;
  exempt: boolean;
  shares: number;
  lendablePercent: number;
  borrowingLimitPercent: number | undefined;
  queuing: Queuing | undefined;
}

function wantedOf({ metadata, spec }: PriorityLevelConfiguration): Wanted {
  const uid = metadata.uid ?? '';
  if (spec?.type === 'Exempt') {
    const { nominalConcurrencyShares, lendablePercent } = spec.exempt ?? {};
    const shares = nominalConcurrencyShares ?? 0;
    return {
      uid,
      exempt: true,
      shares,
      lendablePercent: lendablePercent ?? 0,
      borrowingLimitPercent: undefined,
      queuing: undefined,
    };
  }
  const { nominalConcurrencyShares, lendablePercent, borrowingLimitPercent, limitResponse } = spec?.limited ?? {};
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = limitResponse?.queuing ?? {};
  return {
    uid,
    exempt: false,
    shares: nominalConcurrencyShares ?? 30,
    lendablePercent: lendablePercent ?? 0,
    borrowingLimitPercent: borrowingLimitPercent ?? undefined,
    queuing: limitResponse?.type === 'Queue' ? { queues, handSize, queueLengthLimit } : undefined,
  };
}

const seatsMaxOf = (nominal: number, queuing: Queuing | undefined): number =>
  queuing ? Math.max(1, Math.min(Math.ceil(nominal * levelSeatsShareMax), Math.floor(nominal / queuing.handSize))) : 0;

export class Levels {
  readonly all = new Map<string, Level>();
  matcher: FlowMatcher;
  fairFraction = 0;
  readonly #mandatory: Configuration;
  readonly #total: number;

  /** `total`: seats of the server. `mandatory`: used for what the configuration lacks. */
  constructor(mandatory: Configuration, total: number, nowMs: number) {
    this.#mandatory = mandatory;
    this.#total = total;
    this.matcher = new FlowMatcher(mandatory.schemas);
    this.configure({ schemas: [], levels: [] }, nowMs);
  }

  /** Whether a request is at one of them. */
  get busy(): boolean {
    for (const { queues } of this.all.values()) if (!queues.idle) return true;
    return false;
  }

  configure({ schemas, levels }: Configuration, nowMs: number): void {
    const byName = <T extends { metadata: { name?: string } }>(list: readonly T[]): Map<string, T> =>
      new Map(list.map((one) => [one.metadata.name ?? '', one]));
    const configured = new Map([...byName(this.#mandatory.levels), ...byName(levels)]);
    const wanted = new Map([...configured].map(([name, level]) => [name, wantedOf(level)]));
    for (const [name, level] of this.all) {
      if (wanted.has(name)) continue;
      level.quiescing = true;
      if (level.queues.idle) this.all.delete(name);
    }
    const bounds = nominalBounds(
      [...wanted].map(([name, one]) => ({ name, ...one })),
      this.#total,
    );
    for (const [name, one] of wanted) this.#place(name, one, bounds.get(name) as Bounds, nowMs);
    // A schema whose level is gone matches nothing.
    const usable = [...new Map([...byName(this.#mandatory.schemas), ...byName(schemas)]).values()].filter(({ spec }) =>
      wanted.has(spec?.priorityLevelConfiguration.name ?? ''),
    );
    this.matcher = new FlowMatcher(usable);
  }

  /** Moves seats from those that lend to those that ask. */
  adjust(nowMs: number): void {
    const asking = new Map<string, Asking>();
    for (const [name, level] of this.all) {
      if (level.quiescing && level.queues.idle) {
        this.all.delete(name);
        continue;
      }
      const { highWatermark, smoothed } = level.queues.demand.close(nowMs);
      asking.set(name, { ...level.bounds, exempt: level.exempt, highWatermark, smoothed });
    }
    const { limits, fairFraction } = borrow(asking);
    this.fairFraction = fairFraction;
    for (const [name, level] of this.all) {
      const limit = limits.get(name) ?? level.current;
      if (limit === level.current) continue;
      level.current = limit;
      if (!level.exempt) level.queues.setLimit(limit, nowMs);
    }
  }

  #place(name: string, { uid, exempt, queuing }: Wanted, bounds: Bounds, nowMs: number): void {
    const seatsMax = seatsMaxOf(bounds.nominal, queuing);
    const level = this.all.get(name);
    if (level) {
      const current = Math.max(bounds.min, Math.min(bounds.max, level.current));
      Object.assign(level, { uid, exempt, bounds, seatsMax, current, quiescing: false });
      level.queues.configure(queuing, exempt ? Number.POSITIVE_INFINITY : current, nowMs);
      return;
    }
    const limit = exempt ? Number.POSITIVE_INFINITY : bounds.nominal;
    this.all.set(name, {
      ...{ name, uid, exempt, bounds, seatsMax, quiescing: false, current: bounds.nominal },
      queues: new QueueSet(queuing, limit, nowMs),
      retryAfter: new RetryAfter(),
    });
  }
}
