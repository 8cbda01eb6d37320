import { describe, expect, it } from 'vitest';
import { conflict } from '#apimachinery/errors';
import { type Clock, seededRng, silentLogger } from '#utils';
import { applyRoutes } from './apply.ts';

describe('a route that meets conflicts', () => {
  it('is tried five times, 100 to 200 ms apart', async () => {
    const slept: number[] = [];
    let tries = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      setTimer: () => ({ cancel() {} }),
      sleep: (ms) => Promise.resolve(void slept.push(ms)),
    };
    const routes = {
      listRoutes: () => Promise.resolve([]),
      deleteRoute: () => Promise.resolve(),
      createRoute() {
        tries += 1;
        return Promise.reject(conflict({ group: '', resource: 'routes' }, 'a', 'locked'));
      },
    };
    const route = { name: '', targetNode: 'n', targetNodeAddresses: [], destinationCidr: '10.244.0.0/24' };
    const make = [{ node: { metadata: { name: 'n', uid: 'u' } }, route }];
    const [outcome] = await applyRoutes(
      { remove: [], make, removeFirst: false, concerned: [] },
      { routes, cluster: 'c', rng: seededRng(1), clock, logger: silentLogger, signal: new AbortController().signal },
    );
    expect([outcome?.made, outcome?.failures.length, tries, slept.length]).toEqual([false, 5, 5, 4]);
    expect(slept.every((ms) => ms >= 100 && ms < 200)).toBe(true);
    expect(new Set(slept).size).toBe(4);
  });
});
