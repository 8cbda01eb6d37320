// The package of a build in a folder of its own, as an installation has it: a newer build can take its place while a cluster runs.
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { binary } from './harness.ts';

/** The binary comes last: whoever starts in between finds the files of before, or the new ones. */
const files = ['package.json', 'dist/openapi-descriptions.json', 'dist/sagong.cjs', 'bin/sagong.mjs'];

/** The checkout under test. */
export const present = resolve(dirname(binary), '..');

/** Puts the build of a checkout into `folder`, in place of what is there. Gives its binary. */
export async function install(checkout: string, folder: string): Promise<string> {
  for (const file of files) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await copyFile(join(checkout, file), `${path}.new`);
    await rename(`${path}.new`, path);
  }
  return join(folder, 'bin', 'sagong.mjs');
}
