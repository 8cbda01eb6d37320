import { expect, it } from 'vitest';
import { type Clock, seededRng, silentLogger } from '#utils';
import { runLeaderElection } from './leader-election.ts';
import type { KubeClient } from './types.ts';

/** A clock that stands still until `pass` moves it on, and then calls the timers that are due. */
function steppedClock() {
  let now = 0;
  const timers = new Set<{ atMs: number; due: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimer(delayMs, due) {
      const timer = { atMs: now + Math.max(0, delayMs), due };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        const timer = clock.setTimer(delayMs, resolve);
        const ended = (): void => {
          timer.cancel();
          reject(new Error('aborted'));
        };
        if (signal?.aborted) ended();
        else signal?.addEventListener('abort', ended, { once: true });
      }),
  };
  const pass = async (ms: number): Promise<void> => {
    for (const endMs = now + ms; now < endMs; now += 100) {
      for (const timer of [...timers]) if (timer.atMs <= now && timers.delete(timer)) timer.due();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, pass };
}

type Answer = 'given' | 'none';

/** Runs an election by a lease whose server stops answering writes when `answers` gives 'none'. */
function leading(answers: () => Answer) {
  const { clock, pass } = steppedClock();
  const written: string[] = [];
  const write = async (lease: { spec: { holderIdentity: string } }): Promise<unknown> => {
    if (answers() === 'none') return new Promise(() => {});
    written.push(lease.spec.holderIdentity);
    return { ...lease, metadata: { name: 'l', namespace: 'n', resourceVersion: String(written.length) } };
  };
  const lease = { metadata: { name: 'l', namespace: 'n', resourceVersion: '0' }, spec: {} };
  const resource = { get: async () => lease, create: write, update: write };
  const client = { resource: () => resource } as unknown as KubeClient;
  const over = new AbortController();
  let endedMs: number | undefined;
  void runLeaderElection(
    {
      ...{ client, clock, rng: seededRng(1), logger: silentLogger, namespace: 'n', name: 'l', identity: 'me' },
      onStartedLeading: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      onStoppedLeading: () => {},
    },
    over.signal,
  ).then(() => {
    endedMs = clock.monotonic();
  });
  return { clock, pass, written, stop: () => over.abort(), ended: () => endedMs };
}

it('who is told to end gives its lease back', async () => {
  const candidate = leading(() => 'given');
  await candidate.pass(5_000);
  candidate.stop();
  await candidate.pass(500);
  expect([candidate.written.at(0), candidate.written.at(-1), candidate.ended()]).toEqual(['me', '', expect.any(Number)]);
});

it.each([
  ['between two renewals', 500],
  ['in the middle of one', 4_000],
])('who is told to end %s while nobody answers ends soon all the same', async (_, silentMs) => {
  let answer: Answer = 'given';
  const candidate = leading(() => answer);
  await candidate.pass(4_500);
  answer = 'none';
  await candidate.pass(silentMs);
  const toldMs = candidate.clock.monotonic();
  candidate.stop();
  await candidate.pass(20_000);
  expect((candidate.ended() ?? Infinity) - toldMs).toBeLessThanOrEqual(4_500);
});

it('who gets no answer any more stops to lead before others may', async () => {
  let answer: Answer = 'given';
  const candidate = leading(() => answer);
  await candidate.pass(4_500);
  answer = 'none';
  const silentMs = candidate.clock.monotonic();
  await candidate.pass(20_000);
  expect((candidate.ended() ?? Infinity) - silentMs).toBeLessThan(15_000);
});
