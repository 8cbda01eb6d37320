// Clusters with a `--data-dir` of their own: `~/.sagong/.elsewhere` has a link to the directory of each, by which `sagong list` finds them. No cluster
// can have the folder's name.
import { existsSync } from 'node:fs';
import { readlink, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDir, namesIfExists } from '#host';
import { clusterMark } from './paths.ts';

const folderIn = (home: string): string => join(home, '.elsewhere');
const linkOf = (dataDir: string, home: string): string => join(folderIn(home), clusterMark(dataDir));

const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): void => {
    if (!codes.includes(error.code ?? '')) throw error;
  };

/** `home`: the folder where clusters live by default. Links to directories that are gone are removed. */
export async function rememberDir(dataDir: string, home: string): Promise<void> {
  if (dirname(dataDir) === home) return;
  await ensureDir(folderIn(home));
  for (const known of await rememberedDirs(home)) if (!existsSync(known)) await rm(linkOf(known, home), { force: true });
  await symlink(dataDir, linkOf(dataDir, home)).catch(unless('EEXIST'));
}

export async function forgetDir(dataDir: string, home: string): Promise<void> {
  await rm(linkOf(dataDir, home), { force: true });
  await rmdir(folderIn(home)).catch(unless('ENOENT', 'ENOTEMPTY'));
}

/** The directories that links made here lead to; somebody else's links do not count. */
export async function rememberedDirs(home: string): Promise<string[]> {
  const names = await namesIfExists(folderIn(home));
  const targets = await Promise.all(names.sort().map((name) => readlink(join(folderIn(home), name)).catch(() => '')));
  return targets.filter((target, index) => clusterMark(target) === names[index]);
}
