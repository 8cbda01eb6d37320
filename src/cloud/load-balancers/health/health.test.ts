import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Clock } from '#utils';
import type { HealthCheck, TargetHealth } from '../../model/index.ts';
import { limits } from '../limits.ts';
import { createHealthChecker } from './checker.ts';
import { afterProbe, initialState } from './health.ts';
import { type Heard, heardIn } from './heard.ts';
import { type Dial, probe, ProbeUnavailable } from './probe.ts';

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
    /** Nobody runs meanwhile. */
    sleepThrough(ms: number): void {
      now += ms;
    },
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
    expect(await probe(() => Promise.resolve(answering(parts, asked)), 'h', check, clock)).toBe(good ? 'good' : 'bad');
    expect(asked[0]).toMatch(/^GET \/healthz HTTP\/1\.1\r\nHost: h:80\r\n/);
  });
  it('ends in time, fails with the connection, and says nothing when nothing can be said', async () => {
    const { clock, pass } = manualClock();
    let late: Duplex | undefined;
    const slow = () => clock.sleep(80).then(() => (late = answering([])));
    const probed = probe(slow, 'h', check, clock);
    await pass(60);
    expect([await probed, late]).toEqual(['silent', undefined]);
    await pass(60);
    expect(late?.destroyed).toBe(true);
    expect(await probe(() => Promise.reject(new Error('connect ECONNREFUSED')), 'h', check, clock)).toBe('bad');
    await expect(probe(() => Promise.reject(new ProbeUnavailable('no helper')), 'h', check, clock)).rejects.toThrow('no helper');
    expect(await probe(() => Promise.resolve(answering([])), 'h', { ...check, protocol: 'tcp' }, clock)).toBe('good');
  });
  it('is not held against its target where it is this process that was late', async () => {
    const { clock, pass, sleepThrough } = manualClock();
    let answer = (): void => {};
    const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    const probed = probe(() => Promise.resolve(stream), 'h', check, clock);
    answer = () => stream.push('HTTP/1.1 200 OK\r\n\r\n');
    await pass(20);
    // The answer comes in time, and is read when this process runs again.
    sleepThrough(200);
    await pass(20);
    answer();
    await pass(20);
    expect(await probed).toBe('good');
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
  it('forgives a target that speaks on other connections, but not for ever', async () => {
    const { clock, pass } = manualClock();
    let silentDials = 0;
    let isSilent = false;
    let speaks = true;
    const changes: TargetHealth[] = [];
    const asked: unknown[] = [];
    const dial: Dial = () => {
      if (!isSilent) return Promise.resolve(answering(['HTTP/1.1 200 OK\r\n']));
      silentDials++;
      return Promise.resolve(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }));
    };
    const heard: Heard = async (...words) => {
      asked.push(words);
      return speaks;
    };
    const checker = createHealthChecker(dial, clock, () => changes.push(checker.health({ host: 'h', check })), heard);
    checker.want([{ host: 'h', check, before: undefined }]);
    await pass(50);
    isSilent = true;
    while (changes.length === 1 && silentDials < 100) await pass(50);
    expect([changes, silentDials, asked[0]]).toEqual([['healthy', 'unhealthy'], limits.probesForgivenMax + 1, ['h', 80, 25]]);
    isSilent = false;
    await pass(200);
    isSilent = true;
    speaks = false;
    silentDials = 0;
    while (changes.length === 3 && silentDials < 100) await pass(50);
    expect([changes, silentDials]).toEqual([['healthy', 'unhealthy', 'healthy', 'unhealthy'], 1]);
    checker.close();
  });
});

describe('what the kernel knows of connections', () => {
  const line = (rest: string): string => `0 0 10.0.0.1:4711 10.0.0.2:6443 bbr rtt:0.1/0.1 bytes_sent:5 ${rest} rcv_space:14480`;
  it.each<[string, string[], boolean]>([
    ['no connection', [], false],
    ['one that was heard of lately', ['bytes_received:7 lastsnd:900 lastrcv:120 lastack:90'], true],
    ['one that was heard of this moment', ['bytes_received:7 lastack:90'], true],
    ['one that was heard of long ago', ['bytes_received:7 lastsnd:10 lastrcv:700 lastack:10'], false],
    ['one that was just made, with somebody who says nothing', ['lastsnd:40 lastrcv:41 lastack:40'], false],
    ['two', ['bytes_received:7 lastrcv:700', 'bytes_received:9 lastrcv:3'], true],
  ])('%s', (_, lines, expected) => {
    expect(heardIn(lines.map(line).join('\n'), 500)).toBe(expected);
  });
});
