// Folders and files of this machine that nodes see (kind's extraMounts): from their first boot on, so that they are chosen with the first start.
import { stat } from 'node:fs/promises';
import type { ClusterSettings, NodeMount } from './settings.ts';

/** `given`: those of this start, if any. `elsewhere`: nodes have no root on this machine. Rejects with a sentence for what cannot be shown. */
export async function mountsOfStart(
  given: NodeMount[] | undefined,
  before: ClusterSettings | undefined,
  elsewhere: boolean,
): Promise<ClusterSettings['mounts']> {
  if (!given) return before?.mounts;
  if (elsewhere) throw new Error('extraMounts need real nodes of the local cloud: others have no files');
  if (before && JSON.stringify(given) !== JSON.stringify(before.mounts))
    throw new Error(
      'extraMounts cannot change after the first start: nodes have them from their first boot on; start another cluster with a --name or --data-dir of its own',
    );
  for (const { source } of given) {
    const found = await stat(source).catch(() => undefined);
    if (!found) throw new Error(`extraMounts: ${source} is not there; it must be a folder or a file of this machine`);
  }
  return given;
}
