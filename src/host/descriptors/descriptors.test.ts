// Paths inside of directories that somebody else changes at the same time. The somebody is a thread that swaps a directory for a link to the outside
// and back as fast as it can.
import { readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Descriptor, holding } from './descriptor.ts';
import { type InsideOptions, openInside, OutsideError } from './inside.ts';
import { removeTree, walkTree } from './trees.ts';

let base: string;
let volume: string;
let outside: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sagong-descriptors-')));
  volume = join(base, 'volume');
  outside = join(base, 'outside');
  await mkdir(join(volume, 'a', 'b'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(volume, 'a', 'file'), 'inside');
  await writeFile(join(outside, 'file'), 'outside');
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Opens the path and says where that is; links are read as seen from `volume`. */
const where = (path: string, options: InsideOptions = {}): Promise<string> =>
  holding(Descriptor.at(volume), (root) => holding(openInside(root, path, options), (found) => realpath(found.path)));

/** Runs while `work` does: the entry is the directory or the link, in turn, and for moments nothing. */
async function whileSwapping(entry: string, link: string, work: () => Promise<void>): Promise<number> {
  const stop = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { renameSync } = require('node:fs'); const { workerData: { entry, link, stop } } = require('node:worker_threads');
     const aside = entry + '.aside'; const move = (from, to) => { try { renameSync(from, to); } catch {} };
     while (Atomics.load(stop, 0) === 0) {
       move(entry, aside); move(link, entry); move(entry, link); move(aside, entry); Atomics.add(stop, 1, 1);
     }`,
    { eval: true, workerData: { entry, link, stop } },
  );
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  await expect.poll(() => Atomics.load(stop, 1)).toBeGreaterThan(0);
  try {
    await work();
  } finally {
    Atomics.store(stop, 0, 1);
    await ended;
  }
  return Atomics.load(stop, 1);
}

describe.skipIf(process.platform !== 'linux')('a path inside', () => {
  it('is found, whatever it is made of', async () => {
    await symlink('b', join(volume, 'a', 'link'));
    await symlink('../a/link', join(volume, 'a', 'link2'));
    expect(await where('a/b')).toBe(join(volume, 'a', 'b'));
    expect(await where('./a//file')).toBe(join(volume, 'a', 'file'));
    expect(await where('a/link2')).toBe(join(volume, 'a', 'b'));
    expect(await where('')).toBe(volume);
    expect(await where('a/../a/b/..')).toBe(join(volume, 'a'));
  });

  it('never leads out', async () => {
    await symlink('/etc', join(volume, 'absolute'));
    await symlink('../outside', join(volume, 'relative'));
    await symlink('../../../../../../../../etc', join(volume, 'a', 'far'));
    await symlink('round', join(volume, 'round'));
    for (const path of ['absolute', 'absolute/passwd', 'relative/file', 'a/far', 'round', '..', 'a/../../outside'])
      await expect(where(path), path).rejects.toThrow(OutsideError);
  });

  it('may be named by an absolute link where it is known where the directory is', async () => {
    await symlink(join(volume, 'a'), join(volume, 'absolute'));
    await symlink(`${volume}x`, join(volume, 'neighbour'));
    await expect(where('absolute/b')).rejects.toThrow(OutsideError);
    expect(await where('absolute/b', { realPath: volume })).toBe(join(volume, 'a', 'b'));
    await expect(where('neighbour', { realPath: volume })).rejects.toThrow(OutsideError);
  });

  it('says what the file system says of what is not there', async () => {
    await symlink('nothing', join(volume, 'dangling'));
    for (const path of ['nothing', 'a/nothing/b', 'dangling']) await expect(where(path)).rejects.toThrow('ENOENT');
    await expect(where('a/file/b')).rejects.toThrow('ENOTDIR');
  });

  it('is made where it is missing, with the mode that was asked for whatever the umask, but not where a link points', async () => {
    await symlink('nothing', join(volume, 'dangling'));
    expect(await where('a/new/er', { make: 0o2777 })).toBe(join(volume, 'a', 'new', 'er'));
    for (const made of ['new', 'new/er']) expect((await stat(join(volume, 'a', made))).mode & 0o7777).toBe(0o2777);
    await chmod(join(volume, 'a', 'new'), 0o700);
    await where('a/new/er', { make: 0o777 });
    expect((await stat(join(volume, 'a', 'new'))).mode & 0o777).toBe(0o700);
    await expect(where('dangling', { make: 0o777 })).rejects.toThrow('ENOENT');
    await expect(where('dangling/x', { make: 0o777 })).rejects.toThrow('ENOENT');
    expect((await readdir(volume)).sort()).toEqual(['a', 'dangling']);
  });

  it('has no link in it where none may be', async () => {
    await symlink('b', join(volume, 'a', 'link'));
    await expect(where('a/link', { noLinks: true })).rejects.toThrow(OutsideError);
    expect(await where('a/b', { noLinks: true })).toBe(join(volume, 'a', 'b'));
  });

  it('stays inside while it is swapped', async () => {
    const link = join(volume, 'link');
    await symlink(outside, link);
    const found = { inside: 0, refused: 0, missing: 0 };
    const swaps = await whileSwapping(join(volume, 'a'), link, async () => {
      await holding(Descriptor.at(volume), async (root) => {
        const met = (): boolean => found.inside > 0 && found.refused > 0;
        for (let attempt = 0; attempt < 1_500 || (!met() && attempt < 50_000); attempt++)
          await holding(openInside(root, 'a/file'), async (file) => {
            const handle = await file.openForReading();
            expect(await handle.readFile('utf8').finally(() => handle.close())).toBe('inside');
            found.inside++;
          }).catch((error: NodeJS.ErrnoException) => {
            if (error instanceof OutsideError) found.refused++;
            else if (error.code === 'ENOENT' || error.code === 'EINVAL') found.missing++;
            else throw error;
          });
      });
    });
    expect(swaps).toBeGreaterThan(100);
    // The race was one: the link was met, and so was the directory.
    expect(Math.min(found.inside, found.refused)).toBeGreaterThan(0);
  }, 60_000);
});

describe.skipIf(process.platform !== 'linux')('a tree', () => {
  it('is visited once, links as links', async () => {
    await symlink(outside, join(volume, 'link'));
    const seen: string[] = [];
    await holding(Descriptor.at(volume), (top) =>
      walkTree(top, async ({ info }, place) => void seen.push(`${place?.name ?? '.'}${info.isSymbolicLink() ? '@' : ''}`)),
    );
    expect(seen.sort()).toEqual(['.', 'a', 'b', 'file', 'link@']);
  });

  it('is never left while it is visited and swapped', async () => {
    const link = join(volume, 'link');
    await symlink(outside, link);
    const before = (await stat(join(outside, 'file'))).mode;
    await whileSwapping(join(volume, 'a'), link, async () => {
      await holding(Descriptor.at(volume), async (top) => {
        for (let round = 0; round < 150; round++)
          await walkTree(top, ({ info, path }) =>
            info.isSymbolicLink() ? undefined : chmod(path, info.isFile() ? 0o606 : 0o707),
          );
      });
    });
    expect((await stat(join(outside, 'file'))).mode).toBe(before);
    expect((await stat(join(volume, 'a', 'file'))).mode & 0o777).toBe(0o606);
  }, 60_000);

  it('is removed with all that is in it, and nothing that its links point to', async () => {
    await symlink(outside, join(volume, 'a', 'link'));
    await symlink(volume, join(base, 'top'));
    await removeTree(join(base, 'top'));
    expect((await lstat(volume)).isDirectory()).toBe(true);
    for (let time = 0; time < 2; time++) await removeTree(volume);
    await removeTree(join(base, 'never', 'was'));
    expect(await readdir(base)).toEqual(['outside']);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('outside');
  });

  it('is removed however deep it is', async () => {
    // Built from its end, as a path of the whole would be too long.
    let deep = join(volume, 'deep');
    await mkdir(deep);
    for (let level = 0; level < 1_050; level++) {
      const next = join(volume, `next${level}`);
      await mkdir(next);
      await rename(deep, join(next, 'd'));
      deep = next;
    }
    await expect(holding(Descriptor.at(volume), (top) => walkTree(top, () => {}))).rejects.toThrow('file name too long');
    await removeTree(volume);
    expect(await readdir(base)).toEqual(['outside']);
  }, 60_000);

  it('takes nothing else with it when it is swapped while it is removed', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `file${index}`);
    for (const directory of [join(volume, 'a'), outside]) for (const name of names) writeFileSync(join(directory, name), '');
    const removed = removeTree(volume);
    await expect.poll(() => readdirSync(join(volume, 'a')).length, { interval: 1 }).toBeLessThan(names.length);
    const left = readdirSync(join(volume, 'a')).length;
    renameSync(join(volume, 'a'), join(base, 'aside'));
    symlinkSync(outside, join(volume, 'a'));
    await removed;
    expect(left).toBeGreaterThan(0);
    expect((await readdir(outside)).sort()).toEqual(['file', ...names].sort());
    expect((await readdir(base)).sort()).toEqual(['aside', 'outside']);
  });
});
