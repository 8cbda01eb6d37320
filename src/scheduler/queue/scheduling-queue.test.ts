import { expect, test } from 'vitest';
import type { Clock } from '#utils';
import { interest, type PodInfo, podInfoOf } from '../framework/index.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

/** A clock moved by hand. */
class HandClock implements Clock {
  nowMs = 0;
  readonly #timers = new Set<{ atMs: number; run: () => void }>();
  now = (): number => this.nowMs;
  monotonic = (): number => this.nowMs;
  setTimer(delayMs: number, run: () => void) {
    const timer = { atMs: this.nowMs + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }
  sleep(): Promise<void> {
    throw new Error('nothing sleeps here');
  }
  advance(byMs: number): void {
    const untilMs = this.nowMs + byMs;
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.nowMs = next.atMs;
      next.run();
    }
    this.nowMs = untilMs;
  }
}

const pod = (name: string, priority = 0): PodInfo =>
  podInfoOf({ metadata: { name, namespace: 'ns', uid: name }, spec: { containers: [], priority } });

const fit = new Set(['Fit']);

/** `askingMs`: what it takes to ask a pod whether an event helps it. */
function setUp(askingMs = 0) {
  const clock = new HandClock();
  const asked: string[] = [];
  const queue = new SchedulingQueue({
    clock,
    compare: (a, b) => b.info.priority - a.info.priority || a.timestampMs - b.timestampMs,
    preEnqueue: () => undefined,
    interests: (_pod, plugin) => (plugin === 'Fit' ? [interest('Node', ['Add'])] : []),
    helps: (one, info, event) => {
      clock.nowMs += askingMs;
      asked.push(info.key);
      return one.helps?.(info, event, { get: () => undefined, list: () => [] }) ?? true;
    },
    onReady: () => {},
  });
  const pop = () => queue.pop()?.info.key;
  /** Pods that wait for an event, beyond their back-off. */
  const unschedulable = (...names: string[]): void => {
    for (const name of names) {
      queue.add(pod(name));
      const entry = queue.pop();
      if (entry) queue.retry(entry, fit);
      clock.advance(1);
    }
    clock.advance(2_000);
  };
  return { clock, queue, pop, asked, unschedulable };
}

test('higher priority first, then first come', () => {
  const { clock, queue, pop } = setUp();
  queue.add(pod('a'));
  clock.advance(1);
  queue.add(pod('b'));
  queue.add(pod('c', 9));
  expect([pop(), pop(), pop(), pop()]).toEqual(['ns/c', 'ns/a', 'ns/b', undefined]);
});

test('only an event that its plugin waits for moves a pod', () => {
  const { clock, queue, pop } = setUp();
  queue.add(pod('a'));
  const entry = queue.pop();
  if (entry) queue.retry(entry, fit);
  clock.advance(2_000);
  queue.onEvent({ resource: 'Pod', actions: ['Delete'] });
  queue.onEvent({ resource: 'Node', actions: ['UpdateNodeLabel'] });
  expect(pop()).toBeUndefined();
  queue.onEvent({ resource: 'Node', actions: ['Add'] });
  expect(pop()).toBe('ns/a');
});

test('pods that take long to ask are asked in turns, each once for each event', () => {
  const { clock, queue, pop, asked, unschedulable } = setUp(3);
  unschedulable('a', 'b', 'c', 'd', 'e');
  queue.onEvent({ resource: 'Node', actions: ['Add'] });
  expect(asked).toEqual(['ns/a', 'ns/b']);
  queue.delete('c');
  queue.onEvent({ resource: 'Node', actions: ['Add'] });
  expect(asked).toHaveLength(2);
  clock.advance(100);
  expect(asked).toEqual(['ns/a', 'ns/b', 'ns/d', 'ns/e']);
  expect([pop(), pop(), pop(), pop(), pop()]).toEqual(['ns/a', 'ns/b', 'ns/d', 'ns/e', undefined]);
});

test('who begins to wait after an event is not asked about it', () => {
  const { clock, queue, asked, unschedulable } = setUp(3);
  unschedulable('a', 'b', 'c');
  queue.onEvent({ resource: 'Node', actions: ['Add'] });
  expect(asked).toEqual(['ns/a', 'ns/b']);
  queue.add(pod('late'));
  const entry = [queue.pop(), queue.pop(), queue.pop()].find((one) => one?.info.key === 'ns/late');
  if (entry) queue.retry(entry, fit);
  clock.advance(100);
  expect(entry).toBeDefined();
  expect(asked).toEqual(['ns/a', 'ns/b', 'ns/c']);
});

test('with more events than can be asked about everybody is tried again', () => {
  const { queue, pop, asked, unschedulable } = setUp(10);
  unschedulable('a', 'b', 'c');
  for (let event = 0; event < 1_002; event++) queue.onEvent({ resource: 'Node', actions: ['Add'] });
  expect(asked).toEqual(['ns/a']);
  expect([pop(), pop(), pop(), pop()]).toEqual(['ns/a', 'ns/b', 'ns/c', undefined]);
});

test('after an error back-off doubles from one second to ten', () => {
  const { clock, queue } = setUp();
  queue.add(pod('a'));
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const entry = queue.pop();
    if (entry) queue.retry(entry, new Set());
    const fromMs = clock.nowMs;
    while (queue.sizes().active === 0) clock.advance(100);
    waits.push(clock.nowMs - fromMs);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('a pod that no event moves is tried again after five minutes', () => {
  const { clock, queue, pop } = setUp();
  queue.add(pod('a'));
  const entry = queue.pop();
  if (entry) queue.retry(entry, fit);
  clock.advance(290_000);
  expect(pop()).toBeUndefined();
  clock.advance(40_000);
  expect(pop()).toBe('ns/a');
});

test('a deleted pod leaves nothing behind', () => {
  const { queue, pop } = setUp();
  queue.add(pod('a'));
  queue.nominator.set(pod('a'), 'n');
  queue.delete('a');
  expect(pop()).toBeUndefined();
  expect(queue.nominator.byNode.size).toBe(0);
  expect(queue.sizes()).toEqual({ active: 0, backoff: 0, gated: 0, unschedulable: 0, inFlight: 0 });
});
