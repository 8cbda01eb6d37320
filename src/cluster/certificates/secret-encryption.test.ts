import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { assertSecretKey, secretEncryption } from './secret-encryption.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-encryption-'));
});
afterEach(() => rm(dir, { recursive: true }));
const path = (): string => join(dir, 'encryption.json');

it('a key is made once, for its owner alone', async () => {
  await secretEncryption(dir);
  const made = await readFile(path(), 'utf8');
  expect((await stat(path())).mode & 0o777).toBe(0o600);
  await secretEncryption(dir);
  expect(await readFile(path(), 'utf8')).toBe(made);
  await expect(assertSecretKey(dir)).resolves.toBeUndefined();
});

it('one that is gone is told, and no other is made', async () => {
  await expect(assertSecretKey(dir)).rejects.toThrow(`is in ${path()}, which is gone: put it back from a copy of the folder`);
  await expect(stat(path())).rejects.toThrow('ENOENT');
});

it.each(['', '{', 'null', '[]', '{"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1"}'])(
  'one that is damaged (%j) is told',
  async (text) => {
    await writeFile(path(), text);
    await expect(assertSecretKey(dir)).rejects.toThrow(
      new RegExp(`is in ${path()}, which cannot be used \\(error while parsing file: .*\\): mend it, or put it back from a copy`),
    );
  },
);

it('a folder in its place is told', async () => {
  await mkdir(path());
  await expect(assertSecretKey(dir)).rejects.toThrow(`is in ${path()}, which cannot be used`);
});
