import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockHeldError, lockHolder, takeLock, withLock } from './lock.ts';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lock-'));
  path = join(dir, 'it.lock');
});
afterEach(() => rm(dir, { recursive: true }));

describe('a lock', () => {
  it('is held by one at a time, and free afterwards', async () => {
    const lock = await takeLock(path);
    await expect(takeLock(path)).rejects.toThrow(LockHeldError);
    expect(await lockHolder(path)).toBe(process.pid);
    await lock.release();
    expect(await lockHolder(path)).toBeUndefined();
    await (await takeLock(path)).release();
  });
  it('is taken over from a process that is gone', async () => {
    const gone = spawn('true', { stdio: 'ignore' });
    await once(gone, 'exit');
    await symlink(`${gone.pid}:00000000/1:abc`, path);
    expect(await lockHolder(path)).toBeUndefined();
    const lock = await takeLock(path);
    expect(await lockHolder(path)).toBe(process.pid);
    await lock.release();
  });
  it('is had by one of many who find it stale at once', async () => {
    let holders = 0;
    for (let round = 0; round < 10; round++) {
      await symlink(`4194305:00000000/1:${round}`, path);
      const alone = async () => {
        expect(++holders).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        holders--;
      };
      await Promise.all(Array.from({ length: 8 }, () => withLock(path, alone, 20_000)));
      expect(await readdir(dir)).toEqual([]);
    }
  });
  it('lets those who wait change what it guards one after the other', async () => {
    const count = join(dir, 'count');
    await writeFile(count, '0');
    const add = async () => {
      const before = Number(await readFile(count, 'utf8'));
      await writeFile(count, String(before + 1));
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(path, add, 20_000)));
    expect(await readFile(count, 'utf8')).toBe('20');
  });
  it('is given back when what was done under it failed', async () => {
    await expect(withLock(path, () => Promise.reject(new Error('no')), 0)).rejects.toThrow('no');
    expect(await lockHolder(path)).toBeUndefined();
  });
  it('says who has it to one that waited in vain', async () => {
    const lock = await takeLock(path);
    await expect(withLock(path, () => Promise.resolve(), 0)).rejects.toMatchObject({ pid: process.pid });
    await lock.release();
  });
});
