// Automatic compaction on virtual time, alone and with a second process on the same store.
import { expect, test } from 'vitest';
import { autoCompact, openMemoryStore } from './index.ts';
import { silentLogger } from '#utils';
import { manualClock } from './suite/manual-clock.ts';

const put = (key: string) => ({ compare: [], success: [{ op: 'put' as const, key, value: Buffer.from('1') }] });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Time that passes within a turn makes the store put its commit off to the next one. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await turn();
};

test('history of the last interval is kept, older history is not', async () => {
  const clock = manualClock();
  const store = openMemoryStore({ clock });
  const compaction = autoCompact({ store, clock, logger: silentLogger, intervalMs: 1000 });
  const kept: number[] = [];
  for (let round = 0; round < 4; round++) {
    await store.txn(put('/a'));
    clock.advance(1000);
    await settled();
    kept.push(store.compactedRevision());
  }
  // Each round is one put of ours and one of the compaction's own key; the first rounds only take note of the revision.
  expect(kept).toEqual([0, 3, 5, 7]);
  compaction.stop();
  clock.advance(5000);
  await settled();
  expect(store.compactedRevision()).toBe(7);
});

test('two processes take turns instead of compacting twice as much', async () => {
  const clock = manualClock();
  const store = openMemoryStore({ clock });
  const first = autoCompact({ store, clock, logger: silentLogger, intervalMs: 1000 });
  clock.advance(500);
  const second = autoCompact({ store, clock, logger: silentLogger, intervalMs: 1000 });
  const at: number[] = [];
  for (let half = 0; half < 8; half++) {
    await store.txn(put('/a'));
    clock.advance(500);
    await settled();
    at.push(store.revision() - store.compactedRevision());
  }
  expect(store.compactedRevision()).toBeGreaterThan(0);
  // Never less than the two puts of the last whole interval.
  expect(Math.min(...at)).toBeGreaterThanOrEqual(2);
  first.stop();
  second.stop();
});
