// The user's own kubeconfig: `up` adds a context and makes it current, as kind does; `down` takes it out again and
// makes current what was before.
import { existsSync } from 'node:fs';
import {
  type ContextEntry,
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

/** Under this name a context says which directory its cluster is in, so that it is found when the directory is gone. */
const extensionName = 'sagong.dev/cluster';

const marked = (config: Kubeconfig, dataDir: string): Kubeconfig => ({
  ...config,
  contexts: config.contexts.map(({ name, context }) => ({
    name,
    context: { ...context, extensions: [{ name: extensionName, extension: { dataDir } }] },
  })),
});

const isOf = (context: ContextEntry | null | undefined, dataDir: string): boolean =>
  context?.extensions?.some(
    ({ name, extension }) => name === extensionName && (extension as { dataDir?: string } | null)?.dataDir === dataDir,
  ) ?? false;

/**
 * Adds the context of the cluster in `dataDir` to the user's kubeconfig. Resolves with the context that was current before: '' where there was none, undefined where it was this
 * one already. Rejects with a sentence that names the file.
 */
export async function addUserContext(config: Kubeconfig, dataDir: string, env: Env): Promise<string | undefined> {
  const path = targetPath(env);
  return naming(path, async () => {
    const current = existsSync(path) ? readKubeconfig(path) : emptyKubeconfig();
    await replaceFile(path, formatKubeconfig(mergeKubeconfig(current, marked(config, dataDir))), { mode: 0o600 });
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

/** Takes out the contexts of the cluster that was in `dataDir`, and gives whether there were any. Rejects with a sentence that names the file. */
export async function removeContextsOf(dataDir: string, env: Env): Promise<boolean> {
  let any = false;
  for (const path of kubeconfigPaths(env)) {
    if (!existsSync(path)) continue;
    await naming(path, async () => {
      const current = readKubeconfig(path);
      const names = current.contexts.flatMap(({ name, context }) => (isOf(context, dataDir) ? [name] : []));
      if (names.length === 0) return;
      await replaceFile(path, formatKubeconfig(names.reduce(withoutContext, current)), { mode: 0o600 });
      any = true;
    });
  }
  return any;
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
