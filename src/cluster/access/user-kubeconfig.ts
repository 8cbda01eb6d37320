// The user's own kubeconfig: `up` adds a context and makes it current, as kind does; `down` takes it out again and
// makes current what was before.
import { existsSync } from 'node:fs';
import {
  emptyKubeconfig,
  formatKubeconfig,
  type Kubeconfig,
  kubeconfigPaths,
  mergeKubeconfig,
  readKubeconfig,
  withoutContext,
} from '#client';
import { replaceFile } from '#host';

type Env = Record<string, string | undefined>;

/** kubectl's rule: the first file of $KUBECONFIG that exists, else the last one named; else ~/.kube/config. */
function targetPath(env: Env): string {
  const paths = kubeconfigPaths(env);
  return paths.find((path) => existsSync(path)) ?? (paths.at(-1) as string);
}

/**
 * Adds the context to the user's kubeconfig. Resolves with the context that was current before: '' where there was none, undefined where it was this
 * one already. Rejects with a sentence that names the file.
 */
export async function addUserContext(config: Kubeconfig, env: Env): Promise<string | undefined> {
  const path = targetPath(env);
  return naming(path, async () => {
    const current = existsSync(path) ? readKubeconfig(path) : emptyKubeconfig();
    await replaceFile(path, formatKubeconfig(mergeKubeconfig(current, config)), { mode: 0o600 });
    const before = current['current-context'];
    return before === config['current-context'] ? undefined : before;
  });
}

export interface ContextToRemove {
  name: string;
  /** The context is removed only where it still points to this server. */
  server?: string | undefined;
  /** Becomes current again where `name` is and this one still exists. */
  previous?: string | undefined;
}

/** Takes a context out. Rejects with a sentence that names the file. */
export async function removeUserContext({ name, server, previous }: ContextToRemove, env: Env): Promise<void> {
  for (const path of kubeconfigPaths(env)) {
    if (!existsSync(path)) continue;
    await naming(path, async () => {
      const current = readKubeconfig(path);
      const cluster = current.clusters.find((entry) => entry.name === name)?.cluster;
      if (!cluster || (server !== undefined && cluster.server !== server)) return;
      const left = withoutContext(current, name);
      const restored = current['current-context'] === name && previous !== undefined && hasContext(previous, left, env);
      await replaceFile(path, formatKubeconfig(restored ? { ...left, 'current-context': previous } : left), { mode: 0o600 });
    });
  }
}

/** Whether `config`, or another of the files that kubectl reads with it, has the context. */
const hasContext = (name: string, config: Kubeconfig, env: Env): boolean =>
  [config, ...kubeconfigPaths(env).flatMap((path) => readable(path) ?? [])].some(({ contexts }) =>
    contexts.some((context) => context.name === name),
  );

function readable(path: string): Kubeconfig | undefined {
  try {
    return readKubeconfig(path);
  } catch {
    return undefined;
  }
}

async function naming<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new Error(`the kubeconfig ${path} cannot be changed: ${reason.replace(/:$/, '')}`, { cause: error });
  }
}
