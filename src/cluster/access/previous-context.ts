// The context that was current in the user's kubeconfig before the cluster's was, kept in `<data-dir>/previous-context`.
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';

const pathOf = (dataDir: string): string => join(dataDir, 'previous-context');

/** An empty text means that no context was current. */
export const keepPreviousContext = (dataDir: string, context: string): Promise<void> => atomicWrite(pathOf(dataDir), context);

/** The context that was current before the cluster started; undefined where none was kept. */
export async function previousContext(dataDir: string): Promise<string | undefined> {
  return (await readFileIfExists(pathOf(dataDir)))?.toString('utf8') || undefined;
}
