// What users of a store see of a disk that is full, refuses writes, or was damaged while nobody looked.
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { seededRng } from '#utils';
import { CorruptError, DiskError, NoSpaceError } from '../errors.ts';
import { diskRetryMs } from '../limits.ts';
import { FaultyDisk } from '../suite/faulty-disk.ts';
import { type ManualClock, manualClock } from '../suite/manual-clock.ts';
import type { EmbeddedStore } from '../types.ts';
import { openOn } from './index.ts';

const mib = 1024 * 1024;
const put = (key: string, bytes = 100_000) => ({
  compare: [],
  success: [{ op: 'put' as const, key, value: Buffer.alloc(bytes, key) }],
});
const all = { key: '\0', rangeEnd: '\0' };

interface Opened {
  disk: FaultyDisk;
  clock: ManualClock;
  store: EmbeddedStore;
}

async function open(capacity = Number.POSITIVE_INFINITY, quotaBytes?: number): Promise<Opened> {
  const disk = new FaultyDisk(seededRng(1));
  disk.capacity = capacity;
  const clock = manualClock();
  return { disk, clock, store: await openOn(disk, { clock, ...(quotaBytes !== undefined && { quotaBytes }) }) };
}

/** Writes keys of 100 kB until one is refused; answers how many were taken, and the refusal. */
async function fill(store: EmbeddedStore, prefix: string): Promise<{ taken: number; refusal: Error }> {
  for (let taken = 0; taken < 1000; taken++) {
    try {
      await store.txn(put(`${prefix}${String(taken).padStart(4, '0')}`));
    } catch (refusal) {
      return { taken, refusal: refusal as Error };
    }
  }
  throw new Error('the disk never ran full');
}

/** Lets the store try its disk again until it takes writes. */
const untilWritable = ({ store, clock }: Opened): Promise<void> =>
  expect
    .poll(() => {
      clock.advance(diskRetryMs);
      return store.writeRefusal();
    })
    .toBeUndefined();

describe('a full disk', () => {
  test('refuses writes as etcd does, reads and deletes on, and takes writes again by itself when it has room', async () => {
    const opened = await open(20 * mib);
    const { store, disk } = opened;
    const { taken, refusal } = await fill(store, '/a');
    expect(refusal).toBeInstanceOf(NoSpaceError);
    expect(refusal.message).toBe('etcdserver: mvcc: database space exceeded');
    expect(taken).toBeGreaterThan(80);
    expect(store.writeRefusal()).toBeInstanceOf(NoSpaceError);
    expect(store.rangeSync(all).count).toBe(taken);
    await store.txn({ compare: [], success: [{ op: 'delete', key: '/a0000' }] });
    const { id } = await store.leaseGrant(10).catch(() => ({ id: 0 }));
    expect(id).toBe(0);
    disk.capacity = 60 * mib;
    await untilWritable(opened);
    expect((await fill(store, '/b')).taken).toBeGreaterThan(100);
    await store.close();
    const again = await openOn(disk.crash(), { clock: manualClock() });
    expect(again.rangeSync(all).count).toBe(store.stats().keys);
    await again.close();
  });

  test('has room again once keys are deleted and history is compacted', async () => {
    const opened = await open(20 * mib);
    const { store, disk } = opened;
    const { taken } = await fill(store, '/a');
    await store.txn({ compare: [], success: [{ op: 'delete', key: '/a0010', rangeEnd: '/b' }] });
    await store.compact(store.revision());
    await untilWritable(opened);
    expect((await fill(store, '/b')).taken).toBeGreaterThan(taken / 2);
    expect(store.rangeSync({ key: '/a', rangeEnd: '/b' }).count).toBe(10);
    await store.close();
    expect((await openOn(disk.crash(), { clock: manualClock() })).rangeSync({ key: '/a', rangeEnd: '/b' }).count).toBe(10);
  });

  test('can be opened', async () => {
    const { store, disk } = await open(20 * mib);
    const { taken } = await fill(store, '/a');
    await store.close();
    const found = disk.crash();
    found.capacity = 0;
    const clock = manualClock();
    const again = await openOn(found, { clock });
    expect(again.rangeSync(all).count).toBe(taken);
    await again.txn({ compare: [], success: [{ op: 'delete', key: '/a0000' }] });
    await expect(fill(again, '/b')).resolves.toMatchObject({ refusal: new NoSpaceError() });
    await again.close();
  });

  test('that many writers run into at once answers all of them', async () => {
    const { store } = await open(12 * mib);
    const answers = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => store.txn(put(`/${i}`))));
    const taken = answers.filter(({ status }) => status === 'fulfilled').length;
    expect(taken).toBeGreaterThan(10);
    expect(taken).toBeLessThan(120);
    expect(store.stats().keys).toBe(taken);
    await store.close();
  });
});

test('the quota refuses writes as etcd does, until space is freed', async () => {
  const opened = await open(undefined, 5 * mib);
  const { store } = opened;
  const { taken, refusal } = await fill(store, '/a');
  expect(refusal).toEqual(new NoSpaceError());
  expect(taken).toBe(52);
  await store.txn({ compare: [], success: [{ op: 'delete', key: '/a0000', rangeEnd: '/a0020' }] });
  await expect(store.txn(put('/b'))).rejects.toEqual(new NoSpaceError());
  await store.compact(store.revision());
  await store.txn(put('/b'));
  await store.close();
});

test('a disk that refuses writes is said to, and tried until it takes them', async () => {
  const opened = await open();
  const { store, disk } = opened;
  await store.txn(put('/before'));
  disk.faults = { write: 'EROFS' };
  const failure = await store.txn(put('/refused')).catch((error: unknown) => error as Error);
  expect(failure).toBeInstanceOf(DiskError);
  expect((failure as Error).message).toMatch(/^the store cannot write to its disk: EROFS: simulated/);
  expect(store.rangeSync(all).kvs.map(({ key }) => key)).toEqual(['/before']);
  opened.clock.advance(diskRetryMs);
  expect(store.writeRefusal()).toBeInstanceOf(DiskError);
  disk.faults = {};
  await untilWritable(opened);
  await store.txn(put('/after'));
  await store.close();
  const again = await openOn(disk.crash(), { clock: manualClock() });
  expect(again.rangeSync(all).kvs.map(({ key }) => key)).toEqual(['/after', '/before']);
});

test('one write that fails is done again in another file, and nobody hears of it', async () => {
  const { store, disk } = await open();
  await store.txn(put('/a'));
  disk.faults = { write: 'EIO' };
  const written = store.txn(put('/b'));
  await expect.poll(async () => (await disk.list()).length).toBeGreaterThan(2);
  disk.faults = {};
  await written.catch(() => {});
  await expect.poll(() => store.writeRefusal()).toBeUndefined();
  await store.txn(put('/c'));
  expect(store.rangeSync(all).kvs.map(({ key }) => key)).toContain('/c');
  await store.close();
});

test('space of what was overwritten comes back while the store runs', async () => {
  const { store, disk } = await open();
  for (let round = 0; round < 60; round++) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => store.txn(put(`/${i}`))));
    if (round % 10 === 9) await store.compact(store.revision());
  }
  await expect.poll(() => store.stats().bytes).toBeLessThan(16 * mib);
  expect(store.stats().bytesInUse).toBeLessThan(2 * mib);
  expect(store.rangeSync(all).count).toBe(10);
  await store.close();
  const again = await openOn(disk.crash(), { clock: manualClock() });
  expect([again.rangeSync(all).count, again.revision()]).toEqual([10, store.revision()]);
  await again.defragment();
  expect(again.stats().bytes).toBeLessThan(9 * mib);
  await again.close();
});

test('damage found while the store runs is mended from memory', async () => {
  const { store, disk } = await open();
  for (let i = 0; i < 30; i++) await store.txn(put(`/kept${i}`));
  disk.flip('000000000001.log', 50_000, 3);
  for (let round = 0; round < 60; round++) await Promise.all(Array.from({ length: 10 }, (_, i) => store.txn(put(`/${i}`))));
  await store.compact(store.revision());
  await expect.poll(async () => (await disk.list()).includes('000000000001.log')).toBe(false);
  await store.close();
  const again = await openOn(disk.crash(), { clock: manualClock() });
  expect(again.rangeSync(all).count).toBe(40);
  await again.close();
});

describe('a store that was damaged while it was closed is refused by name', () => {
  const damages: [string, (disk: FaultyDisk) => unknown, RegExp][] = [
    [
      'one bit of a value',
      (disk) => disk.flip('000000000001.log', 150_000, 0),
      /000000000001\.log at byte \d+: the record of \/0001 at revision 3 does not match its checksum/,
    ],
    [
      'a page of zeros',
      (disk) => disk.contents('000000000001.log').fill(0, 8192, 12_288),
      /000000000001\.log at byte \d+: the record of \/0000 at revision 2 does not/,
    ],
    ['a file cut to nothing', (disk) => disk.truncate('000000000001.log', 0), /000000000001\.log at byte 0: the file is empty/],
    [
      'a file cut in the middle',
      (disk) => disk.truncate('000000000002.log', 1_000_000),
      /000000000002\.log at byte 1000000: the file was cut: 1000000 bytes of 2097152 are left/,
    ],
    ['a file removed', (disk) => disk.remove('000000000001.log'), /000000000001\.log at byte 0: a file of the log is missing/],
    [
      'the newest file removed',
      (disk) => disk.remove('000000000003.log'),
      /000000000003\.log at byte 0: the newest file of the log is missing/,
    ],
    [
      'all files of the log removed',
      async (disk) => {
        for (const name of await disk.list()) if (name !== 'store') await disk.remove(name);
      },
      /000000000003\.log at byte 0: the newest file of the log is missing/,
    ],
    [
      'the head of a file overwritten',
      (disk) => disk.contents('000000000002.log').fill(7, 0, 64),
      /000000000002\.log at byte 0: the head of the file does not match its checksum/,
    ],
  ];
  test.each(damages)('%s', async (_, damage, message) => {
    const { store, disk } = await open();
    for (let i = 0; i < 50; i++) await store.txn(put(String(i).padStart(5, '/000')));
    await store.close();
    await damage(disk);
    const found = disk.crash();
    const failure = await openOn(found, { clock: manualClock() }).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(CorruptError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).toMatch(/nothing was changed\. "sagong store check" lists all damage/);
  });

  test('a lost marker is made anew', async () => {
    const { store, disk } = await open();
    await store.txn(put('/a'));
    await store.close();
    for (const lose of [(found: FaultyDisk) => found.remove('store'), async (found: FaultyDisk) => found.truncate('store', 0)]) {
      await lose(disk);
      const again = await openOn(disk, { clock: manualClock() });
      expect(again.rangeSync(all).count).toBe(1);
      await again.close();
      expect(await disk.list()).toContain('store');
    }
  });

  test.each([0, 512])(
    'either half of the marker may be damaged, each byte of it, and is whole again after a start (%d)',
    async (half) => {
      const { store, disk } = await open();
      await store.txn(put('/a'));
      await store.close();
      const other = 512 - half;
      for (let at = 0; at < 64; at++) {
        for (const damaged of [half, other]) {
          const marker = disk.contents('store');
          marker[damaged + at] = (marker[damaged + at] ?? 0) ^ 1;
          const again = await openOn(disk, { clock: manualClock() });
          expect(again.rangeSync(all).count).toBe(1);
          await again.close();
        }
      }
    },
  );

  test('a store of before, whose marker is complete in one half only, survives damage of that half', async () => {
    const { store, disk } = await open();
    await store.txn(put('/a'));
    await store.close();
    const marker = disk.contents('store');
    const slot = Buffer.from(marker.subarray(512, 576));
    slot.writeUInt32LE(0, 12);
    slot.writeDoubleLE(2, 16);
    slot.writeUInt32LE(crc32(slot.subarray(0, 60)), 60);
    slot.copy(marker, 512);
    marker.fill(7, 0, 64);
    const again = await openOn(disk, { clock: manualClock() });
    expect(again.rangeSync(all).count).toBe(1);
    await again.close();
  });

  test('a directory that must hold a store and is empty is no new store', async () => {
    const opening = openOn(new FaultyDisk(seededRng(1)), { clock: manualClock(), mustExist: true });
    await expect(opening).rejects.toThrow('there was a store here, and all of its files are gone');
  });
});
