// Logs of containers in a directory that a hostile pod has mounted.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execCommand } from '#host';
import { directoryBytes } from '../eviction/disk-usage.ts';
import { openLog, removeLog } from './log-file.ts';

let base: string;
let log: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sagong-logs-'));
  const directory = join(base, 'pods', 'default_web_uid', 'app');
  await mkdir(directory, { recursive: true });
  log = join(directory, '0.log');
  await writeFile(log, 'own');
  await mkdir(join(base, 'machine'));
  await writeFile(join(base, 'machine', '0.log'), 'of the machine');
});
afterEach(() => rm(base, { recursive: true, force: true }));

const read = async (): Promise<string> => {
  const file = await openLog(log);
  return file.readFile('utf8').finally(() => file.close());
};

describe.skipIf(process.platform !== 'linux')('a log', () => {
  it('is read where it is, also below a link of the administrator', async () => {
    expect(await read()).toBe('own');
    await rename(join(base, 'pods'), join(base, 'elsewhere'));
    await symlink('elsewhere', join(base, 'pods'));
    expect(await read()).toBe('own');
  });
  it('is not read through links, at its end or before', async () => {
    await rm(log);
    await symlink(join(base, 'machine', '0.log'), log);
    await expect(read()).rejects.toThrow('not a regular file');
    for (const part of [join(base, 'pods', 'default_web_uid', 'app'), join(base, 'pods', 'default_web_uid')]) {
      await rm(part, { recursive: true });
      await symlink(join(base, 'machine'), part);
      await expect(read()).rejects.toThrow();
      await expect(removeLog(log)).rejects.toThrow('the path has a link in it');
    }
    expect(await readdir(join(base, 'machine'))).toEqual(['0.log']);
  });
  it('is not waited for when it is a pipe', async () => {
    await rm(log);
    await execCommand('mkfifo', [log]);
    await expect(read()).rejects.toThrow('not a regular file');
  });
  it('is removed as often as asked, and only itself', async () => {
    await rm(log);
    await symlink(join(base, 'machine', '0.log'), log);
    for (let time = 0; time < 2; time++) await removeLog(log);
    expect(await readFile(join(base, 'machine', '0.log'), 'utf8')).toBe('of the machine');
  });
});

it.skipIf(process.platform !== 'linux')('what is measured is what is inside', async () => {
  const volume = join(base, 'volume');
  await mkdir(join(volume, 'a'), { recursive: true });
  const empty = await directoryBytes(volume);
  await writeFile(join(volume, 'a', 'file'), Buffer.alloc(64 * 1024, 1));
  await symlink('/usr', join(volume, 'link'));
  expect((await directoryBytes(volume)) - empty).toBe(64 * 1024);
  expect(await directoryBytes(join(base, 'nothing'))).toBe(0);
});
