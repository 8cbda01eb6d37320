// `sagong list`: the clusters of this user, as far as they are where clusters live by default.
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isClusterDir } from './paths.ts';
import { runningProcess } from './run-state.ts';
import { loadSettings } from './settings.ts';
import { textTable } from './text-table.ts';

export interface ListedCluster {
  name: string;
  dataDir: string;
  status: 'running' | 'starting' | 'stopped';
  /** Undefined for one that has not finished its first start. */
  nodes: number | undefined;
  runtime: string;
  server: string;
}

/** `folder`: default `~/.sagong`. */
export async function listClusters(folder = join(homedir(), '.sagong')): Promise<ListedCluster[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = await Promise.all(
    names.sort().map(async (name): Promise<ListedCluster[]> => {
      const dataDir = join(folder, name);
      if (!isClusterDir(dataDir)) return [];
      // One that cannot be read is no reason to show none.
      const settings = await loadSettings(dataDir).catch(() => undefined);
      const state = await runningProcess(dataDir);
      return [
        {
          name: settings?.name ?? name,
          dataDir,
          status: state ? (state.ready ? 'running' : 'starting') : 'stopped',
          nodes: settings?.nodes.length,
          runtime: settings?.runtime ?? '',
          server: state?.server ?? '',
        },
      ];
    }),
  );
  return found.flat();
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
