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

/** Gives the file it wrote. Rejects with a sentence that names it. */
export async function addUserContext(config: Kubeconfig, env: Env): Promise<string> {
  const path = targetPath(env);
  await naming(path, async () => {
    const current = existsSync(path) ? readKubeconfig(path) : emptyKubeconfig();
    await writeKubeconfig(path, mergeKubeconfig(current, config));
  });
  return path;
}

/** Takes the context out, but only where it still points to `server`. Rejects with a sentence that names the file. */
export async function removeUserContext(name: string, server: string | undefined, env: Env): Promise<void> {
  for (const path of kubeconfigPaths(env)) {
    if (!existsSync(path)) continue;
    await naming(path, async () => {
      const current = readKubeconfig(path);
      const cluster = current.clusters.find((entry) => entry.name === name)?.cluster;
      if (!cluster || (server !== undefined && cluster.server !== server)) return;
      await writeKubeconfig(path, withoutContext(current, name));
    });
  }
}

async function naming(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new Error(`the kubeconfig ${path} cannot be changed: ${reason.replace(/:$/, '')}`, { cause: error });
  }
}
