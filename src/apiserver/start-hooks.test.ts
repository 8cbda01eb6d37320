import { expect, test } from 'vitest';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
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
