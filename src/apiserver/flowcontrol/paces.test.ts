import { beforeEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '#store/suite';
import { Cancellation, NoAnswerError } from '../request/cancellation.ts';
import {
  paceAllowanceMs,
  paceBusy,
  paceDebtMaxMs,
  paceFlowsMax,
  paceLookMs,
  paceShareMin,
  paceWaitersMax,
  paceWaitMaxMs,
  sentBytesPerMs,
} from './core/limits.ts';
import { Pace } from './core/pace.ts';
import { Paces } from './paces.ts';

/** A pace of a thread that has been busy for long. */
function ofBusyThread(): Pace {
  const pace = new Pace();
  for (let ms = 0; ms < 10_000; ms += paceLookMs) pace.adjust(1, ms);
  pace.adjust(1, 0);
  return pace;
}

describe('the share of a flow', () => {
  it('falls to the least one while the thread is busy, and grows to all of it when it is not', () => {
    const pace = new Pace();
    expect(pace.share).toBe(1);
    const shares = Array.from({ length: 40 }, (_, at) => {
      pace.adjust(at < 20 ? 1 : 0.1, at * paceLookMs);
      return pace.share;
    });
    expect(shares[0]).toBeCloseTo(paceBusy);
    expect(shares[19]).toBe(paceShareMin);
    expect(shares[39]).toBe(1);
    expect(shares.slice(0, 20)).toEqual(shares.slice(0, 20).toSorted((a, b) => b - a));
  });

  it('stays where the thread is as busy as it may be', () => {
    const pace = new Pace();
    for (let at = 0; at < 3; at++) pace.adjust(1, at * paceLookMs);
    const before = pace.share;
    pace.adjust(paceBusy, 10_000);
    expect(pace.share).toBeCloseTo(before);
  });

  it('pays at each moment what it was then', () => {
    const pace = ofBusyThread();
    pace.charge('heavy', paceAllowanceMs + 100, 0);
    pace.adjust(paceBusy / 2, 1_000);
    const leftMs = 100 - 1_000 * paceShareMin;
    expect(pace.share).toBeCloseTo(2 * paceShareMin);
    expect(pace.delayMs('heavy', 1_000)).toBeCloseTo(leftMs / pace.share);
  });
});

describe('what a flow owes', () => {
  it('delays its next request until its share of the time has paid for it', () => {
    const pace = ofBusyThread();
    pace.charge('heavy', paceAllowanceMs, 0);
    expect(pace.delayMs('heavy', 0)).toBe(0);
    pace.charge('heavy', 100, 0);
    expect(pace.delayMs('heavy', 0)).toBeCloseTo(100 / paceShareMin);
    expect(pace.delayMs('heavy', 50 / paceShareMin)).toBeCloseTo(50 / paceShareMin);
    expect(pace.delayMs('heavy', 100 / paceShareMin)).toBeCloseTo(0);
    expect(pace.delayMs('light', 0)).toBe(0);
  });

  it('delays nobody while the thread has time left', () => {
    const pace = new Pace();
    pace.charge('heavy', paceDebtMaxMs, 0);
    expect(pace.delayMs('heavy', 0)).toBe(0);
  });

  it('is bounded, however much it has used', () => {
    const pace = ofBusyThread();
    for (let at = 0; at < 100; at++) pace.charge('heavy', 10_000, 0);
    expect(pace.delayMs('heavy', 0)).toBeCloseTo((paceDebtMaxMs - paceAllowanceMs) / paceShareMin);
  });

  it('counts requests that run by what those before took', () => {
    const pace = ofBusyThread();
    let nowMs = 0;
    for (let at = 0; at < 50; at++) {
      pace.began('heavy', nowMs);
      pace.charge('heavy', 150, nowMs);
      pace.ended('heavy');
      nowMs += 10_000;
    }
    expect(pace.delayMs('heavy', nowMs)).toBe(0);
    pace.began('heavy', nowMs);
    expect(pace.delayMs('heavy', nowMs)).toBe(0);
    pace.began('heavy', nowMs);
    expect(pace.delayMs('heavy', nowMs)).toBeGreaterThan(0);
  });

  it('is forgotten in time, so that names without end take no memory', () => {
    const pace = new Pace();
    pace.charge('heavy', 1_000, 0);
    for (let at = 0; at < 100_000; at++) pace.charge(`one-of-many-${at}`, 0.01, 1_000);
    expect(pace.size).toBeLessThanOrEqual(2 * paceFlowsMax);
  });
});

describe('requests of a flow', () => {
  let clock: ManualClock;
  let busy: number;
  let paces: Paces;
  let entered: string[];
  beforeEach(() => {
    clock = manualClock();
    busy = 1;
    paces = new Paces(clock, () => busy);
    entered = [];
    for (let looks = 0; looks < 20; looks++) {
      clock.advance(paceLookMs);
      paces.isDelayed('heavy');
    }
  });
  const request = (signal?: AbortSignal) => ({ cancellation: new Cancellation(() => signal) });
  async function enter(flow: string, name = flow, signal?: AbortSignal): Promise<void> {
    await paces.enter(flow, request(signal));
    entered.push(name);
  }
  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    await new Promise(setImmediate);
  }
  const use = (flow: string, ms = 400): void => {
    paces.charge('others', 1);
    paces.charge(flow, ms);
  };

  it('wait one after the other once it has used more than its share, and nobody else does', async () => {
    use('heavy', paceAllowanceMs + 1_000 * paceShareMin);
    const all = [enter('heavy', 'first'), enter('heavy', 'second'), enter('light')];
    await pass(900);
    expect(entered).toEqual(['light']);
    paces.charge('others', 1);
    await pass(200);
    expect(entered).toEqual(['light', 'first', 'second']);
    await Promise.all(all);
  });

  it('do not wait when the thread has had time for a while', async () => {
    busy = 0.3;
    for (let ms = 0; ms < 5_000; ms += paceLookMs) {
      use('heavy', paceLookMs / 3);
      await pass(paceLookMs);
      paces.isDelayed('heavy');
    }
    use('heavy', 1_000);
    expect(paces.enter('heavy', request())).toBeUndefined();
  });

  it('wait for what those before were answered with, which is sent later', async () => {
    const bytes = (paceAllowanceMs + 1_000 * paceShareMin) * sentBytesPerMs;
    paces.charge('others', 1);
    await enter('reader', 'first');
    paces.leave('reader', bytes);
    const second = enter('reader', 'second');
    await pass(900);
    expect(entered).toEqual(['first']);
    paces.charge('others', 1);
    await pass(200);
    expect(entered).toEqual(['first', 'second']);
    await second;
  });

  it('do not wait when nobody else is served', () => {
    paces.charge('heavy', 1_000);
    expect(paces.enter('heavy', request())).toBeUndefined();
  });

  it('wait no longer when the others have gone', async () => {
    use('heavy', 1_000);
    const waits = enter('heavy');
    await pass(1_300);
    expect(entered).toEqual(['heavy']);
    await waits;
  });

  it('are refused when too many wait, or one for too long', async () => {
    use('heavy');
    const waits = Array.from({ length: paceWaitersMax }, () => enter('heavy').catch((error: Error) => error));
    expect(() => paces.enter('heavy', request())).toThrow('Too many requests');
    for (let ms = 0; ms < paceWaitMaxMs + 1_000; ms += 100) {
      use('heavy');
      await pass(100);
    }
    const ends = await Promise.all(waits);
    expect(ends.every((end) => end instanceof Error && end.message.startsWith('Too many requests'))).toBe(true);
    expect(entered).toEqual([]);
  });

  it('are let go when whoever asked is gone', async () => {
    use('heavy', paceAllowanceMs + 1_000 * paceShareMin);
    const gone = new AbortController();
    const first = enter('heavy', 'first', gone.signal);
    const second = enter('heavy', 'second');
    gone.abort(new Error('closed'));
    await expect(first).rejects.toBeInstanceOf(NoAnswerError);
    for (let at = 0; at < 12; at++) {
      paces.charge('others', 1);
      await pass(100);
    }
    expect(entered).toEqual(['second']);
    await second;
  });
});
