// The context that was current in the user's kubeconfig before the cluster's was, kept in `<data-dir>/previous-context`.
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';

const pathOf = (dataDir: string): string => join(dataDir, 'previous-context');

/** '' for none. */
export const keepPreviousContext = (dataDir: string, context: string): Promise<void> => atomicWrite(pathOf(dataDir), context);

/** Undefined: there was none. */
export async function previousContext(dataDir: string): Promise<string | undefined> {
  return (await readFileIfExists(pathOf(dataDir)))?.toString('utf8') || undefined;
}
