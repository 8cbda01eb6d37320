// `sagong explain`.
import { askCluster, clusterPaths, dataDirOf, type Explained, explanationText } from '#cluster';
import { systemClock } from '#host';
import { say } from '../process/say.ts';

export async function runExplain(object: string, flags: { name: string; dataDir?: string; namespace: string }): Promise<void> {
  const slash = object.indexOf('/');
  if (slash <= 0 || slash === object.length - 1)
    throw new Error(`name an object as kind/name, e.g. deployment/web, not ${JSON.stringify(object)}`);
  const { controlSocket } = clusterPaths(dataDirOf(flags.name, flags.dataDir));
  const [kind, name] = [object.slice(0, slash), object.slice(slash + 1)];
  const explained = await askCluster<Explained[]>(controlSocket, 'GET', '/explain', { kind, namespace: flags.namespace, name });
  say(explanationText(explained, systemClock().now()));
}
