import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atSocketOnDisk, changeOnDisk, namesOnDisk, readOnDisk, writeOnDisk } from './disk.ts';
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

it('connects to a socket of the disk, and to none that a link leads to', async () => {
  const said: string[] = [];
  const listen = async (path: string): Promise<Server> => {
    const server = createServer((socket) => void socket.on('data', (text: Buffer) => said.push(`${path}: ${String(text)}`)));
    await once(server.listen(path), 'listening');
    return server;
  };
  const servers = [await listen(join(disk, 'folder', 'own.sock')), await listen(join(dir, 'victim', 'sock'))];
  await symlink(join(dir, 'victim', 'sock'), join(disk, 'folder', 'other.sock'));
  const say = (text: string) => async (path: string) => {
    const socket = connect({ path }).end(text);
    await once(socket.resume(), 'close');
    return text;
  };
  expect(await atSocketOnDisk(disk, 'folder', 'own.sock', say('own'))).toBe('own');
  for (const [folder, name] of [
    ['folder', 'other.sock'],
    ['away', 'sock'],
    ['folder', 'file'],
    ['folder', 'absent'],
  ] as const)
    expect(await atSocketOnDisk(disk, folder, name, say(name)), name).toBe(undefined);
  expect(said).toEqual([`${join(disk, 'folder', 'own.sock')}: own`]);
  const failed = Object.assign(new Error('what was done there failed'), { code: 'ENOENT' });
  await expect(atSocketOnDisk(disk, 'folder', 'own.sock', () => Promise.reject(failed))).rejects.toBe(failed);
  for (const server of servers) server.close();
});

it('says when an entry was changed, not what a link leads to', async () => {
  const { mtimeMs } = await lstat(join(disk, 'folder', 'file'));
  expect(await changeOnDisk(disk, 'folder', 'file')).toBe(Math.floor(mtimeMs));
  for (const name of ['away', 'absent']) expect(await changeOnDisk(disk, name, 'file')).toBe(undefined);
});
