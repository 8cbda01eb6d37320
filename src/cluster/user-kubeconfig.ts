// The user's own kubeconfig: `up` adds a context and makes it current, as kind does; `down` takes it out again.
import { existsSync } from 'node:fs';
import {
  emptyKubeconfig,
  type Kubeconfig,
  kubeconfigPaths,
  mergeKubeconfig,
  readKubeconfig,
  withoutContext,
  writeKubeconfig,
} from '#client';

type Env = Record<string, string | undefined>;

/** kubectl's rule: the first file of $KUBECONFIG that exists, else the last one named; else ~/.kube/config. */
function targetPath(env: Env): string {
  const paths = kubeconfigPaths(env);
  return paths.find((path) => existsSync(path)) ?? (paths.at(-1) as string);
}

/** Gives the file it wrote. */
export async function addUserContext(config: Kubeconfig, env: Env): Promise<string> {
  const path = targetPath(env);
  const current = existsSync(path) ? readKubeconfig(path) : emptyKubeconfig();
  await writeKubeconfig(path, mergeKubeconfig(current, config));
  return path;
}

/** Takes the context out, but only where it still points to `server`. */
export async function removeUserContext(name: string, server: string | undefined, env: Env): Promise<void> {
  for (const path of kubeconfigPaths(env)) {
    if (!existsSync(path)) continue;
    const current = readKubeconfig(path);
    const cluster = current.clusters.find((entry) => entry.name === name)?.cluster;
    if (!cluster || (server !== undefined && cluster.server !== server)) continue;
    await writeKubeconfig(path, withoutContext(current, name));
  }
}
