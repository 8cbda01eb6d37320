// Removing what a cluster has in its directory. What else is in there was put there by somebody else, and stays.
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '#host';
import { forgetDir } from './elsewhere.ts';
import { clusterEntries, clusterPaths, clustersHome } from './paths.ts';

/** Removes these entries of a folder. That which says whose they are goes `last`: a removal that was cut off can be done again. */
export async function removeEntries(dir: string, names: readonly string[], last: string): Promise<void> {
  for (const name of names) if (name !== last) await removeTree(join(dir, name));
  await removeTree(join(dir, last));
}

export async function removeData(dataDir: string): Promise<void> {
  await removeEntries(dataDir, clusterEntries, 'cluster.json');
  await rmdir(dataDir).catch(() => {});
}

/** Removes what a failed start leaves. Its messages stay for the process that waits for it. */
export async function removeStart(dataDir: string): Promise<void> {
  const { logs, log } = clusterPaths(dataDir);
  for (const name of clusterEntries) if (name !== 'logs') await removeTree(join(dataDir, name));
  await rm(log, { force: true });
  for (const folder of [logs, dataDir]) await rmdir(folder).catch(() => {});
  await forgetDir(dataDir, clustersHome());
}
