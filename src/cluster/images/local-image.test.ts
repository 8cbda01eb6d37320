import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Exec, ExecResult } from '#utils';
import { withLocalImage } from './local-image.ts';

const result = (code: number, stderr = ''): ExecResult => ({ code, stdout: '', stderr });
const missing = (): never => {
  throw new Error('spawn ENOENT');
};

/** Podman is there and has one image; Docker as told. */
const machine =
  (docker: () => ExecResult): Exec =>
  async (program, args) => {
    if (program === 'docker') return docker();
    if (args[0] === '--version') return result(0);
    if (args.at(-1) !== 'app:1') return result(125, 'Error: no such image\n');
    await writeFile(args[args.indexOf('--output') + 1] ?? '', `${program} ${args.includes('docker-archive')}`);
    return result(0);
  };

it('takes the image from whoever has it, and leaves no archive behind', async () => {
  let seen = '';
  const text = await withLocalImage('app:1', { exec: machine(missing) }, (archive) => {
    seen = archive;
    return readFile(archive, 'utf8');
  });
  expect(text).toBe('podman true');
  expect(existsSync(seen)).toBe(false);
});

it('says who was asked, and what they said', async () => {
  const none = withLocalImage('other:1', { exec: machine(missing) }, async () => {});
  await expect(none).rejects.toThrow(
    'other:1 is neither a file nor an image that can be found (docker is not installed; podman: Error: no such image)',
  );
  const docker = withLocalImage('app:1', { exec: machine(() => result(1)), from: 'docker' }, async () => {});
  await expect(docker).rejects.toThrow('(docker is not installed)');
  await expect(withLocalImage('--all', { exec: machine(missing) }, async () => {})).rejects.toThrow('no name of an image');
});
