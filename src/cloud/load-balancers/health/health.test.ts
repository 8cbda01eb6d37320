import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Clock } from '#utils';
import type { HealthCheck, TargetHealth } from '../../model/index.ts';
import { createHealthChecker } from './checker.ts';
import { afterProbe, initialState } from './health.ts';
import { probe, ProbeUnavailable } from './probe.ts';

describe('health', () => {
  it.each<[TargetHealth | undefined, number, number, string, string]>([
    [undefined, 1, 2, '+', 'healthy'],
    [undefined, 3, 2, '++', 'initial'],
    [undefined, 3, 2, '+++', 'healthy'],
    [undefined, 1, 3, '-', 'unhealthy'],
    ['healthy', 1, 2, '-', 'healthy'],
    ['healthy', 1, 2, '-+-', 'healthy'],
    ['healthy', 1, 2, '--', 'unhealthy'],
    ['unhealthy', 2, 2, '+', 'unhealthy'],
    ['unhealthy', 2, 2, '+-+', 'unhealthy'],
    ['unhealthy', 2, 2, '++', 'healthy'],
    ['unused', 1, 1, '', 'initial'],
  ])('of %s (up after %i, down after %i) after %s is %s', (before, healthyThreshold, unhealthyThreshold, probes, expected) => {
    const thresholds = { healthyThreshold, unhealthyThreshold };
    const state = [...probes].reduce((now, sign) => afterProbe(now, sign === '+', thresholds), initialState(before));
    expect(state.health).toBe(expected);
  });
});

const check: HealthCheck = {
  protocol: 'http',
  port: 80,
  path: '/healthz',
  intervalMs: 100,
  timeoutMs: 50,
  healthyThreshold: 1,
  unhealthyThreshold: 1,
};
/** A clock that goes when it is told, and lets streams do their work in between. */
function manualClock() {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimer(delayMs, callback) {
      const timer = { at: now + Math.max(0, delayMs), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    sleep: (delayMs) => new Promise((resolve) => clock.setTimer(delayMs, resolve)),
  };
  return {
    clock,
    async pass(ms: number): Promise<void> {
      for (const end = now + ms; now < end; now += 10) {
        for (let i = 0; i < 5; i++) await turn();
        for (const timer of [...timers].filter(({ at }) => at <= now)) if (timers.delete(timer)) timer.callback();
        for (let i = 0; i < 5; i++) await turn();
      }
    },
  };
}
/** A connection whose other end says `parts` once it was asked. */
function answering(parts: readonly string[], asked: string[] = []): Duplex {
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      asked.push(chunk.toString());
      for (const part of parts) stream.push(part);
      stream.push(null);
      done();
    },
  });
  return stream;
}

describe('a probe', () => {
  it.each<[string, readonly string[], boolean]>([
    ['200', ['HTTP/1.1 200 OK\r\n\r\n'], true],
    ['200 in pieces', ['HTT', 'P/1.0 200', '\r\n\r\n'], true],
    ['503', ['HTTP/1.1 503 Service Unavailable\r\n\r\n'], false],
    ['2000', ['HTTP/1.1 2000\r\n\r\n'], false],
    ['no HTTP', ['SSH-2.0-x\r\n'], false],
    ['nothing', [], false],
    ['too much', ['x'.repeat(5000)], false],
  ])('of a target that answers %s', async (_, parts, good) => {
    const { clock } = manualClock();
    const asked: string[] = [];
    expect(await probe(() => Promise.resolve(answering(parts, asked)), 'h', check, clock)).toBe(good);
    expect(asked[0]).toMatch(/^GET \/healthz HTTP\/1\.1\r\nHost: h:80\r\n/);
  });
  it('ends in time, fails with the connection, and says nothing when nothing can be said', async () => {
    const { clock, pass } = manualClock();
    let late: Duplex | undefined;
    const slow = () => clock.sleep(80).then(() => (late = answering([])));
    const probed = probe(slow, 'h', check, clock);
    await pass(60);
    expect([await probed, late]).toEqual([false, undefined]);
    await pass(60);
    expect(late?.destroyed).toBe(true);
    expect(await probe(() => Promise.reject(new Error('connect ECONNREFUSED')), 'h', check, clock)).toBe(false);
    await expect(probe(() => Promise.reject(new ProbeUnavailable('no helper')), 'h', check, clock)).rejects.toThrow('no helper');
    expect(await probe(() => Promise.resolve(answering([])), 'h', { ...check, protocol: 'tcp' }, clock)).toBe(true);
  });
});

describe('the checker', () => {
  it('shares probes that are the same, stops those that are not wanted, and keeps what is known', async () => {
    const { clock, pass } = manualClock();
    let dials = 0;
    let up = true;
    const changes: TargetHealth[] = [];
    const checker = createHealthChecker(
      () => {
        dials++;
        return up ? Promise.resolve(answering(['HTTP/1.1 200 OK\r\n'])) : Promise.reject(new Error('connect ECONNREFUSED'));
      },
      clock,
      () => changes.push(checker.health({ host: 'h', check })),
    );
    const target = { host: 'h', check, before: undefined };
    checker.want([target, { ...target }, { ...target, check: { ...check } }]);
    await pass(30);
    expect([dials, changes]).toEqual([1, ['healthy']]);
    up = false;
    await pass(150);
    expect(changes).toEqual(['healthy', 'unhealthy']);
    const before = dials;
    checker.want([]);
    await pass(150);
    expect(dials).toBe(before);
    expect(checker.health({ host: 'h', check })).toBe('initial');
    checker.want([{ ...target, before: 'healthy' }]);
    expect(checker.health({ host: 'h', check })).toBe('healthy');
    checker.close();
  });
});
