// Routes of public addresses in the edge.
import type { Exec } from '#utils';
import { netnsId } from '../haproxy/process.ts';
import { inNetns, ipBatch } from './commands.ts';
import { edgeLines, observeEdge, parseEdge } from './routes.ts';

/** Makes `wanted` (what follows each address) the routes of load balancers. A missing edge is an error only when it is to have routes. */
export async function applyEdge(exec: Exec, netns: string, wanted: ReadonlyMap<string, string>): Promise<void> {
  if (netnsId(netns) === undefined) {
    if (wanted.size > 0) throw new Error(`the edge is not there yet (network namespace ${netns})`);
    return;
  }
  await ipBatch(exec, netns, edgeLines(parseEdge(await inNetns(exec, netns, observeEdge)), wanted));
}
