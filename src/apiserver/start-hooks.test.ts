import { expect, test } from 'vitest';
import { systemClock } from '#host';
import { type Clock, silentLogger } from '#utils';
import type { StartHook } from './registry/start-hook.ts';
import { runStartHooks, type StartHookDeps } from './start-hooks.ts';

const failed: string[] = [];
const deps = (): StartHookDeps => ({
  health: {
    addStartHook: (name: string) => ({ done() {}, failed: () => void failed.push(name) }),
  } as unknown as StartHookDeps['health'],
  cluster: {} as StartHookDeps['cluster'],
  writer: {} as StartHookDeps['writer'],
  feed: { current: () => Promise.resolve() } as unknown as StartHookDeps['feed'],
  clock: { ...systemClock(), monotonic: () => (elapsedMs += 1_000_000) },
  logger: silentLogger,
  signal: new AbortController().signal,
});
let elapsedMs = 0;

/** Hooks that note when they begin and end; `z` fails for good. */
function noted(names: readonly [name: string, after?: string][]): { log: string[]; hooks: StartHook[] } {
  const log: string[] = [];
  const hooks = names.map(([name, after]) => ({
    name,
    ...(after !== undefined && { after }),
    async run() {
      log.push(`${name}+`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name}-`);
      if (name === 'z') throw new Error('no');
    },
  }));
  return { log, hooks };
}

test('a hook waits for the one it needs, and for no other', async () => {
  const { log, hooks } = noted([['a'], ['b', 'a'], ['c'], ['d', 'a']]);
  await runStartHooks(hooks, deps());
  expect(log.slice(0, 4)).toEqual(['a+', 'a-', 'b+', 'd+']);
  expect(log.indexOf('c+')).toBeGreaterThan(log.indexOf('b-'));
  expect(log).toHaveLength(8);
});

test('what needs a failed hook does not run; the failure names the hook', async () => {
  const { log, hooks } = noted([['z'], ['b', 'z'], ['c']]);
  await expect(runStartHooks(hooks, deps())).rejects.toThrow('PostStartHook "z" failed: no');
  expect(log).toEqual(['z+', 'z-']);
  expect(failed).toEqual(['z']);
});

test('a hook cannot need a later one', async () => {
  const { hooks } = noted([['a', 'b'], ['b']]);
  await expect(runStartHooks(hooks, deps())).rejects.toThrow('PostStartHook "a" comes before "b", which it needs');
});

/** A clock whose sleepers wake when it is told to go on. */
function steppedClock(): { clock: Clock; advance(ms: number): Promise<void> } {
  let now = 0;
  const sleepers = new Set<{ at: number; wake(): void }>();
  const clock: Clock = {
    ...systemClock(),
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, fail) => {
        const stop = (): void => {
          sleepers.delete(sleeper);
          fail(signal?.reason);
        };
        const wake = (): void => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', stop);
      }),
  };
  return {
    clock,
    async advance(ms) {
      for (const end = now + ms; ; ) {
        await new Promise((resolve) => setImmediate(resolve));
        const [next] = [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        now = next?.at ?? end;
        if (!next) return;
        sleepers.delete(next);
        next.wake();
      }
    },
  };
}

test('a loop that fails does not end the server, holds nobody back for ever, and works as soon as it can', async () => {
  let well = false;
  let tries = 0;
  const following = new Set<AbortSignal>();
  const { clock, advance } = steppedClock();
  const loop: StartHook = {
    name: 'loop',
    loop: true,
    async run(_cluster, _writer, signal) {
      tries++;
      following.add(signal);
      signal.addEventListener('abort', () => following.delete(signal), { once: true });
      if (!well) throw new Error('the disk is full');
    },
  };
  const after: string[] = [];
  const needy: StartHook = { name: 'needy', after: 'loop', run: async () => void after.push('needy') };
  const server = new AbortController();
  const done = runStartHooks([loop, needy], { ...deps(), clock, signal: server.signal });
  await advance(10_000);
  await done;
  expect(after).toEqual(['needy']);
  await advance(600_000);
  expect(tries).toBeGreaterThan(50);
  expect(following.size).toBe(0);
  well = true;
  await advance(10_000);
  const sofar = tries;
  await advance(600_000);
  expect(tries).toBe(sofar);
  expect(following.size).toBe(1);
  server.abort();
  expect(following.size).toBe(0);
});
