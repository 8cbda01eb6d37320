import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inEach, readArchive } from './load-image.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-archive-'));
});
afterAll(() => rm(dir, { recursive: true }));

it('reads an archive, unpacked where it is compressed', async () => {
  const content = Buffer.from('an archive');
  await writeFile(join(dir, 'a.tar'), content);
  await writeFile(join(dir, 'a.tar.gz'), gzipSync(content));
  expect(Buffer.from(await readArchive(join(dir, 'a.tar')))).toEqual(content);
  expect(Buffer.from(await readArchive(join(dir, 'a.tar.gz')))).toEqual(content);
});

it('says what is wrong with one', async () => {
  await writeFile(join(dir, 'broken.tar.gz'), gzipSync('an archive').subarray(0, 15));
  await expect(readArchive(join(dir, 'broken.tar.gz'))).rejects.toThrow(/broken\.tar\.gz cannot be unpacked: /);
  await expect(readArchive(join(dir, 'none.tar'))).rejects.toThrow('none.tar: no such file (expected is an archive');
  await expect(readArchive(dir)).rejects.toThrow(`${dir} is a directory (expected is an archive`);
});

it('refuses one that unpacks to gigabytes of nothing', async () => {
  await writeFile(join(dir, 'bomb.tar.gz'), gzipSync(Buffer.alloc(128 * 2 ** 20)));
  await expect(readArchive(join(dir, 'bomb.tar.gz'))).rejects.toThrow(
    /bomb\.tar\.gz cannot be unpacked: its \d+ bytes unpack to more than \d+; unpack it first/,
  );
});

it('names the nodes that could not take it, and those that could', async () => {
  const full = async ({ name }: { name: string }): Promise<void> => {
    if (name !== 'node-2') throw new Error('image import failed: no space left on device');
  };
  const [first, second] = [{ name: 'node-1' }, { name: 'node-2' }];
  await expect(inEach([first, second], full)).rejects.toThrow(
    'node-1: image import failed: no space left on device\nloaded into node-2 only',
  );
  await expect(inEach([first], full)).rejects.toThrow(/^node-1: image import failed: no space left on device$/);
  await inEach([second], full);
});
