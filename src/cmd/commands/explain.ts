// `sagong explain`.
import { askForExplanation, clusterPaths, dataDirOf, explanationText } from '#cluster';
import { systemClock } from '#host';

export async function runExplain(object: string, flags: { name: string; dataDir?: string; namespace: string }): Promise<void> {
  const slash = object.indexOf('/');
  if (slash <= 0 || slash === object.length - 1)
    throw new Error(`name an object as kind/name, e.g. deployment/web, not ${JSON.stringify(object)}`);
  const { explainSocket } = clusterPaths(dataDirOf(flags.name, flags.dataDir));
  const explained = await askForExplanation(explainSocket, object.slice(0, slash), flags.namespace, object.slice(slash + 1));
  process.stdout.write(`${explanationText(explained, systemClock().now())}\n`);
}
