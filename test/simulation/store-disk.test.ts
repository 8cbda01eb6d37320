// The store on disks that fail: whatever happens, nothing acknowledged is missing, nothing is half there, damage is named, and nothing needs a
// restart that the disk itself has got over.
// A failing run is its seed: SAGONG_SEED=<seed> replays it. SAGONG_SEEDS=<count> runs so many, from that seed on.
import { describe, expect, test } from 'vitest';
import { CorruptError, type EmbeddedStore } from '#store';
import { Acknowledged, FaultyDisk, manualClock, openDiskStoreOn } from '#store/suite';
import { type Rng, seededRng } from '#utils';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Values of all sizes, so that frames and files of the log end everywhere. */
function changesOf(rng: Rng): Map<string, string | undefined> {
  const changes = new Map<string, string | undefined>();
  for (let i = 1 + rng.int(3); i > 0; i--) {
    const size = rng.next() < 0.05 ? 200_000 : rng.int(3000);
    changes.set(`/k${rng.int(40)}`, rng.next() < 0.15 ? undefined : `${rng.uuid()}${'x'.repeat(size)}`);
  }
  return changes;
}

/** Some writers at a time, `writes` in all, a compaction now and then. */
async function work(store: EmbeddedStore, rng: Rng, told: Acknowledged, writes: number): Promise<void> {
  const writer = async (): Promise<void> => {
    while (writes-- > 0) {
      await told.write(store, changesOf(rng));
      if (rng.next() < 0.02 && store.revision() > store.compactedRevision() + 5)
        await store.compact(store.revision() - 3).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: 4 }, writer));
}

const first = Number(process.env.SAGONG_SEED ?? 1);
const seeds = Array.from({ length: Number(process.env.SAGONG_SEEDS ?? 10) }, (_, i) => first + i);

describe('power lost at any moment', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const rng = seededRng(seed);
    const told = new Acknowledged();
    let disk = new FaultyDisk(rng);
    for (let round = 0; round < 5; round++) {
      const store = await openDiskStoreOn(disk, { clock: manualClock() });
      expect(told.problems(store)).toEqual([]);
      const working = work(store, rng, told, 100_000);
      for (let turns = rng.int(400); turns > 0; turns--) await nextTurn();
      disk = disk.crash();
      void working;
    }
    const store = await openDiskStoreOn(disk, { clock: manualClock() });
    expect(told.problems(store)).toEqual([]);
    expect(told.acknowledged).toBeGreaterThan(20);
    await store.close();
  });
});

describe('writes that fail now and then, and power lost after them', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const rng = seededRng(1000 + seed);
    const told = new Acknowledged();
    const clock = manualClock();
    let disk = new FaultyDisk(rng);
    for (let round = 0; round < 3; round++) {
      const store = await openDiskStoreOn(disk, { clock });
      expect(told.problems(store)).toEqual([]);
      disk.faults = { write: rng.next() < 0.5 ? 'EIO' : 'EROFS', writeChance: 0.3 };
      await work(store, rng, told, 100);
      disk.faults = {};
      await expect.poll(() => (clock.advance(1000), store.writeRefusal())).toBeUndefined();
      expect(await told.write(store, changesOf(rng))).toBeUndefined();
      expect(told.problems(store)).toEqual([]);
      const working = work(store, rng, told, 100_000);
      for (let turns = rng.int(200); turns > 0; turns--) await nextTurn();
      disk = disk.crash();
      void working;
    }
    const store = await openDiskStoreOn(disk, { clock });
    expect(told.problems(store)).toEqual([]);
    expect(told.refused).toBeGreaterThan(0);
    await store.close();
  });
});

describe('one bit changed anywhere', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const rng = seededRng(2000 + seed);
    const told = new Acknowledged();
    const clock = manualClock();
    const disk = new FaultyDisk(rng);
    const store = await openDiskStoreOn(disk, { clock });
    await work(store, rng, told, 60);
    clock.advance(500);
    if (rng.next() < 0.5) await store.close();
    for (let i = 0; i < 5; i++) await nextTurn();
    const found = disk.crash();
    const logs = (await found.list()).filter((name) => name.endsWith('.log'));
    const file = logs[rng.int(logs.length)] as string;
    const used = found.contents(file).findLastIndex((byte) => byte !== 0) + 1;
    const byte = rng.int(used);
    found.flip(file, byte, rng.int(8));
    const opened = await openDiskStoreOn(found, { clock }).catch((error: unknown) => error as Error);
    if (opened instanceof Error) {
      expect(opened).toBeInstanceOf(CorruptError);
      expect(opened.message).toMatch(/^store \/simulated is damaged: (\d{12}\.log|store) at byte \d+: /);
    } else {
      expect(told.problems(opened)).toEqual([]);
      await opened.close();
    }
  });
});

describe('a disk that lies, and power lost after it', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const rng = seededRng(3000 + seed);
    const told = new Acknowledged();
    const disk = new FaultyDisk(rng);
    const store = await openDiskStoreOn(disk, { clock: manualClock() });
    await work(store, rng, told, 40);
    disk.faults = { lieChance: 0.1 };
    await work(store, rng, told, 40);
    disk.faults = {};
    await work(store, rng, told, 10);
    const opened = await openDiskStoreOn(disk.crash(), { clock: manualClock() }).catch((error: unknown) => error as Error);
    if (opened instanceof Error) expect(opened).toBeInstanceOf(CorruptError);
    else {
      expect(told.problems(opened)).toEqual([]);
      await opened.close();
    }
  });
});
