// Stores of earlier versions: opened whole, written anew with checksums, and refused by name when they are damaged.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { seededRng } from '#utils';
import { CompactedError, CorruptError, openDiskStore } from '../../index.ts';

const root = await mkdtemp(join(tmpdir(), 'store-upgrade-'));
let directories = 0;
afterAll(() => rm(root, { recursive: true, force: true }));

const oldFile = gunzipSync(await readFile(join(import.meta.dirname, 'testdata/lmdb-store.mdb.gz')));

async function withOldFile(content: Buffer): Promise<string> {
  const path = await mkdtemp(join(root, `${directories++}-`));
  await writeFile(join(path, 'data.mdb'), content);
  await writeFile(join(path, 'data.mdb-lock'), '');
  return path;
}

test('a store in LMDB is opened with all that it had, and is in LMDB no more', async () => {
  const path = await withOldFile(oldFile);
  for (const _ of ['upgraded', 'opened again']) {
    const store = await openDiskStore({ path });
    expect([store.revision(), store.compactedRevision(), store.stats().keys]).toEqual([157, 145, 124]);
    const value = (key: string): string | undefined => {
      const [kv] = store.rangeSync({ key }).kvs;
      return kv && String(Buffer.from(kv.value));
    };
    expect([value('/last'), value('/hot'), value('/two/a'), value('/two/b')]).toEqual(['한글 값', '29', undefined, '2']);
    expect(value('/registry/secrets/default/bigger')).toBe('C'.repeat(300_000));
    expect(value('/registry/configmaps/default/c77')).toBe(`{"n":77,"pad":"${'x'.repeat(27)}"}`);
    expect(value('/registry/configmaps/default/c1')).toBeUndefined();
    const past = store.rangeSync({ key: '/two/a', revision: 155 }).kvs[0];
    expect(past && String(Buffer.from(past.value))).toBe('1');
    expect(() => store.rangeSync({ key: '/two/a', revision: 144 })).toThrow(CompactedError);
    expect(store.leases()).toEqual([expect.objectContaining({ ttlSeconds: 3600 })]);
    expect(store.leases()[0]?.keys).toHaveLength(12);
    await store.close();
    expect((await readdir(path)).filter((name) => name.startsWith('data.mdb'))).toEqual([]);
  }
});

test('an old store that was cut is refused, and left as it is', async () => {
  for (const length of [0, 10_000, 16_384, 100_000, 500_000]) {
    const path = await withOldFile(oldFile.subarray(0, length));
    const failure = await openDiskStore({ path }).catch((error: unknown) => error as Error);
    expect(failure, `${length} bytes`).toBeInstanceOf(CorruptError);
    expect((failure as Error).message).toMatch(/^store .* is damaged: data\.mdb .*; nothing was changed$/);
    expect((await readFile(join(path, 'data.mdb'))).length).toBe(length);
  }
});

test('whatever bytes an old store is made of, it is opened or refused', async () => {
  const rng = seededRng(7);
  for (let round = 0; round < 60; round++) {
    const damaged = Buffer.from(oldFile);
    const at = rng.int(damaged.length);
    damaged.fill(rng.int(256), at, at + 1 + rng.int(4096));
    const path = await withOldFile(damaged);
    const opened = await openDiskStore({ path }).catch((error: unknown) => error as Error);
    if (opened instanceof Error) expect(opened).toBeInstanceOf(CorruptError);
    else await opened.close();
    await rm(path, { recursive: true });
  }
});
