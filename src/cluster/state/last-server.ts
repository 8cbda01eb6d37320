// Where the apiserver of a cluster was found last, as the cluster's own kubeconfig has it.
import { existsSync } from 'node:fs';
import { readKubeconfig } from '#client';
import { clusterPaths } from './paths.ts';

/** The URL; undefined where the cluster has no kubeconfig that can be read. */
export function lastServer(dataDir: string): string | undefined {
  const path = clusterPaths(dataDir).kubeconfig;
  try {
    return existsSync(path) ? readKubeconfig(path).clusters[0]?.cluster.server : undefined;
  } catch {
    return undefined;
  }
}
