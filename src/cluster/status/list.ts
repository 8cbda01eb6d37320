// `sagong list`: the clusters of this user, where clusters live by default and elsewhere.
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { rememberedDirs } from '../state/elsewhere.ts';
import { clustersHome, isClusterDir } from '../state/paths.ts';
import { runningProcess } from '../state/run-state.ts';
import { loadSettings } from '../state/settings.ts';
import { textTable } from '../terminal/text-table.ts';

export interface ListedCluster {
  name: string;
  dataDir: string;
  status: 'running' | 'starting' | 'stopped';
  /** Undefined for one that has not finished its first start. */
  nodes: number | undefined;
  runtime: string;
  server: string;
}

/** The clusters of this user. `home` is where they live by default, `~/.sagong`. */
export async function listClusters(home = clustersHome()): Promise<ListedCluster[]> {
  const names = await readdir(home).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const dirs = [...names.sort().map((name) => join(home, name)), ...(await rememberedDirs(home))];
  return Promise.all(dirs.filter(isVisibleCluster).map(listed));
}

/** A directory that this user may not look into is shown to nobody but its owner. */
function isVisibleCluster(dataDir: string): boolean {
  try {
    return isClusterDir(dataDir);
  } catch {
    return false;
  }
}

async function listed(dataDir: string): Promise<ListedCluster> {
  // A cluster whose files cannot be read does not keep the others from being listed.
  const settings = await loadSettings(dataDir).catch(() => undefined);
  const state = await runningProcess(dataDir).catch(() => undefined);
  return {
    name: settings?.name ?? basename(dataDir),
    dataDir,
    status: state ? (state.ready ? 'running' : 'starting') : 'stopped',
    nodes: settings?.nodes.length,
    runtime: settings?.runtime ?? '',
    server: state?.server ?? '',
  };
}

export const listedText = (clusters: readonly ListedCluster[]): string =>
  textTable(
    ['NAME', 'STATUS', 'NODES', 'RUNTIME', 'SERVER', 'DATA DIRECTORY'],
    clusters.map(({ name, status, nodes, runtime, server, dataDir }) => [
      name,
      status,
      nodes === undefined ? '' : String(nodes),
      runtime,
      server,
      dataDir,
    ]),
  );
