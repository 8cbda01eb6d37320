import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { namesOnDisk, readOnDisk, writeOnDisk } from './disk.ts';
import { diskFileBytesMax } from './limits.ts';

let dir = '';
let disk = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-disk-'));
  disk = join(dir, 'disk');
  await mkdir(join(disk, 'folder'), { recursive: true });
  await mkdir(join(dir, 'victim'));
  await writeFile(join(dir, 'victim', 'file'), 'kept');
  await writeFile(join(disk, 'folder', 'file'), 'own');
  await writeFile(join(disk, 'long'), 'x'.repeat(diskFileBytesMax + 1));
  await symlink(join(dir, 'victim', 'file'), join(disk, 'link'));
  await symlink(join(dir, 'victim'), join(disk, 'away'));
  await symlink('/dev/zero', join(disk, 'endless'));
  execFileSync('mkfifo', [join(disk, 'pipe')]);
});
afterAll(() => rm(dir, { recursive: true }));

it('reads files that are the own of a disk, and nothing else, without waiting', async () => {
  expect(await readOnDisk(disk, 'folder', 'file')).toBe('own');
  expect(await namesOnDisk(disk, 'folder')).toEqual(['file']);
  for (const name of ['link', 'endless', 'pipe', 'long', 'folder', 'absent'])
    expect(await readOnDisk(disk, '', name), name).toBe(undefined);
  expect(await readOnDisk(disk, 'away', 'file')).toBe(undefined);
  expect(await namesOnDisk(disk, 'away')).toEqual([]);
});

it('writes there, in the place of a link, and nowhere else', async () => {
  for (const name of ['link', 'pipe']) {
    await writeOnDisk(disk, '', name, 'new');
    expect(await readOnDisk(disk, '', name)).toBe('new');
  }
  await expect(writeOnDisk(disk, 'away', 'file', 'new')).rejects.toThrow(`${disk}/away is no folder of the node's own`);
  expect(await readFile(join(dir, 'victim', 'file'), 'utf8')).toBe('kept');
});
