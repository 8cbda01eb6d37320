import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openJournal } from './journal.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cloud-journal-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

it('keeps records in order through compaction in the middle of writes', async () => {
  const dir = join(root, 'a');
  const { journal, snapshot, records } = await openJournal(dir);
  expect([snapshot, records]).toEqual([undefined, []]);
  const writes: Promise<void>[] = [];
  for (let index = 0; index < 100; index++) {
    writes.push(journal.append({ index }));
    if (index % 30 === 29) writes.push(journal.compact({ upTo: index }));
    if (index % 7 === 0) await Promise.resolve();
    if (index % 40 === 0) await journal.flushed();
  }
  await Promise.all(writes);
  await journal.close();
  const again = await openJournal(dir);
  expect(again.snapshot).toEqual({ upTo: 89 });
  expect(again.records).toEqual(Array.from({ length: 10 }, (_, index) => ({ index: 90 + index })));
  expect(await readdir(dir)).toEqual(['journal.3', 'snapshot']);
  await again.journal.close();
});

it('refuses everything after a failed write', async () => {
  const { journal } = await openJournal(join(root, 'b'));
  await journal.append({ a: 1 });
  await journal.close();
  await expect(journal.append({ a: 2 })).rejects.toThrow('cannot write');
  expect(journal.failed?.message).toContain('cannot write');
  await expect(journal.append({ a: 3 })).rejects.toThrow('cannot write');
  const again = await openJournal(join(root, 'b'));
  expect(again.records).toEqual([{ a: 1 }]);
  await again.journal.close();
});
