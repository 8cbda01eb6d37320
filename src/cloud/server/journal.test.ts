import { cp, type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import { systemClock } from '#host';
import type { Clock } from '#utils';
import { JournalError, openJournal } from './journal.ts';

const clock = systemClock();
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cloud-journal-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

it('keeps records in order through compaction in the middle of writes', async () => {
  const dir = join(root, 'a');
  const { journal, snapshot, records } = await openJournal(dir, clock);
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
  const again = await openJournal(dir, clock);
  expect(again.snapshot).toEqual({ upTo: 89 });
  expect(again.records).toEqual(Array.from({ length: 10 }, (_, index) => ({ index: 90 + index })));
  expect(await readdir(dir)).toEqual(['end', 'journal.3', 'snapshot']);
  await again.journal.close();
});

it('refuses everything after a failed write', async () => {
  const { journal } = await openJournal(join(root, 'b'), clock);
  await journal.append({ a: 1 });
  await journal.close();
  await expect(journal.append({ a: 2 })).rejects.toThrow('cannot write');
  expect(journal.failed?.message).toContain('cannot write');
  await expect(journal.append({ a: 3 })).rejects.toThrow('cannot write');
  const again = await openJournal(join(root, 'b'), clock);
  expect(again.records).toEqual([{ a: 1 }]);
  await again.journal.close();
});

describe('a full disk', () => {
  const full = (): Error => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

  /** Timers fire when told to. */
  function stoppedClock(): Clock & { fire(): void } {
    const timers: (() => void)[] = [];
    const setTimer: Clock['setTimer'] = (_ms, callback) => {
      timers.push(callback);
      return { cancel: () => void timers.splice(timers.indexOf(callback), 1) };
    };
    return { ...clock, setTimer, fire: () => timers.splice(0).forEach((callback) => callback()) };
  }

  /** From now on the disk takes half of what is appended, or nothing of what is written anew. */
  async function fill(method: 'appendFile' | 'writeFile'): Promise<MockInstance> {
    const probe = await open(join(root, 'probe'), 'a');
    await probe.close();
    return vi.spyOn(Object.getPrototypeOf(probe) as FileHandle, method).mockImplementation(async function (
      this: FileHandle,
      text,
    ) {
      const half = String(text).slice(0, String(text).length / 2);
      await this.write(half);
      throw full();
    });
  }
  afterEach(() => vi.restoreAllMocks());

  it('refuses what does not fit, and takes writes again when there is room', async () => {
    const timers = stoppedClock();
    const dir = join(root, 'full');
    const { journal } = await openJournal(dir, timers);
    await journal.append({ a: 1 });
    const disk = await fill('appendFile');
    const refused = [journal.append({ a: 2 }), Promise.resolve().then(() => journal.append({ a: 3 }))];
    for (const write of refused) await expect(write).rejects.toThrow('ENOSPC');
    await expect(journal.append({ a: 4 })).rejects.toThrow('ENOSPC');
    disk.mockRestore();
    timers.fire();
    await expect.poll(() => journal.failed).toBeUndefined();
    await journal.append({ a: 5 });
    await journal.close();
    const again = await openJournal(dir, clock);
    expect([again.records, again.tornBytes]).toEqual([[{ a: 1 }, { a: 5 }], 0]);
    await again.journal.close();
  });

  it('that has no room for a snapshot keeps the journal going', async () => {
    const dir = join(root, 'narrow');
    const { journal } = await openJournal(dir, clock);
    await journal.append({ a: 1 });
    const disk = await fill('writeFile');
    await expect(journal.compact({ upTo: 1 })).rejects.toThrow('ENOSPC');
    disk.mockRestore();
    await journal.append({ a: 2 });
    await journal.compact({ upTo: 2 });
    await journal.append({ a: 3 });
    await journal.close();
    const again = await openJournal(dir, clock);
    expect([again.snapshot, again.records]).toEqual([{ upTo: 2 }, [{ a: 3 }]]);
    expect(await readdir(dir)).toEqual(['end', 'journal.1', 'snapshot']);
    await again.journal.close();
  });
});

describe('a journal that lost something', () => {
  const records = Array.from({ length: 6 }, (_, index) => ({ index, text: 'x'.repeat(10 * index) }));
  /** A closed journal with these records in it, after a compaction when `compacted`. */
  async function made(name: string, compacted: boolean): Promise<{ dir: string; file: string; bytes: Buffer }> {
    const dir = join(root, name);
    const { journal } = await openJournal(dir, clock);
    if (compacted) await journal.compact({ base: true });
    for (const record of records) await journal.append(record);
    await journal.close();
    const file = compacted ? 'journal.1' : 'journal.0';
    return { dir, file, bytes: await readFile(join(dir, file)) };
  }
  /** Opens a copy in which `file` holds `content` (undefined: is gone), and sees whether the copy is as before when it is refused. */
  async function refused(from: string, file: string, content: Buffer | undefined): Promise<string | undefined> {
    const dir = `${from}-copy`;
    await rm(dir, { recursive: true, force: true });
    await cp(from, dir, { recursive: true });
    return refusedIn(dir, file, content);
  }
  /** As `refused`, in a folder that this may change: one that was refused is as it was, but for the file. */
  async function refusedIn(dir: string, file: string, content: Buffer | undefined): Promise<string | undefined> {
    await (content ? writeFile(join(dir, file), content) : rm(join(dir, file)));
    const before = await contentsOf(dir);
    try {
      const { journal } = await openJournal(dir, clock);
      await journal.close();
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(JournalError);
      expect(await contentsOf(dir)).toEqual(before);
      return (error as Error).message;
    }
  }
  const contentsOf = async (dir: string): Promise<string[]> =>
    Promise.all((await readdir(dir)).sort().map(async (name) => `${name} ${(await readFile(join(dir, name))).toString('hex')}`));
  const flipped = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 0x10;
    return copy;
  };

  for (const compacted of [false, true]) {
    const when = compacted ? 'after a compaction' : 'from the beginning';
    it(`is refused with its name and what to do, wherever it is hurt, ${when}`, async () => {
      const { dir, file, bytes } = await made(`hurt-${compacted}`, compacted);
      const hurts: (Buffer | undefined)[] = [
        undefined,
        Buffer.alloc(0),
        Buffer.alloc(bytes.length),
        Buffer.from('garbage\n'.repeat(50)),
      ];
      for (let at = 0; at < bytes.length; at++) {
        hurts.push(flipped(bytes, at), bytes.subarray(0, at));
        hurts.push(Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]));
        if (at % 9 === 0) hurts.push(Buffer.concat([bytes.subarray(0, at), Buffer.from('more\n'), bytes.subarray(at)]));
      }
      const copy = `${dir}-hurt`;
      await cp(dir, copy, { recursive: true });
      for (const hurt of hurts) {
        const message = await refusedIn(copy, file, hurt);
        expect(message).toContain(`${file} is damaged: `);
        expect(message).toContain('Put the folder');
      }
      expect(await refused(dir, file, Buffer.concat([bytes, Buffer.from('one\ntwo\n')]))).toContain(
        'does not match its checksum',
      );
    }, 60_000);
  }
  it('is refused without its snapshot, or with a damaged one', async () => {
    const { dir } = await made('snapshot', true);
    const snapshot = await readFile(join(dir, 'snapshot'));
    expect(await refused(dir, 'snapshot', undefined)).toContain('snapshot is damaged: it is older than journal.1, or gone');
    for (const hurt of [Buffer.alloc(0), snapshot.subarray(0, 9), flipped(snapshot, 20), Buffer.from('garbage')])
      expect(await refused(dir, 'snapshot', hurt)).toContain('snapshot is damaged: it does not match its checksum');
    await rm(join(dir, 'end'));
    expect(await refused(dir, 'snapshot', undefined)).toContain('journal.0 is damaged: it is gone');
  });
  it('goes on after a single torn record, and without the note of its end', async () => {
    const { dir, file, bytes } = await made('torn', false);
    for (const torn of ['0', '00000000 {"put":', '00000000 {"put":1}\n', '\0\0\0\0'])
      expect(await refused(dir, file, Buffer.concat([bytes, Buffer.from(torn)]))).toBeUndefined();
    for (const end of [undefined, Buffer.alloc(0), Buffer.from('garbage')]) {
      expect(await refused(dir, 'end', end)).toBeUndefined();
      const again = await openJournal(`${dir}-copy`, clock);
      expect(again.records).toEqual(records);
      await again.journal.close();
    }
  });
  it('is noted a moment after a write, also when the process ends without a word', async () => {
    const dir = join(root, 'noted');
    const { journal } = await openJournal(dir, clock);
    for (const record of records) await journal.append(record);
    const bytes = (await readFile(join(dir, 'journal.0'))).length;
    await expect.poll(() => readFile(join(dir, 'end'), 'utf8')).toContain(`"bytes":${bytes}`);
    expect(await refused(dir, 'journal.0', Buffer.alloc(0))).toContain(`it was cut: 0 bytes are left of ${bytes} or more`);
    await journal.close();
  });
});
