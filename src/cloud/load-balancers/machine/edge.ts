// Routes of public addresses in the edge.
import { deepEqual, type Exec } from '#utils';
import { NotYetError } from '../../model/index.ts';
import { netnsId } from '../netns.ts';
import { inNetns, ipBatch } from './commands.ts';
import { edgeLines, observeEdge, parseEdge } from './routes.ts';

/** Remembers what it made of the edge, so that the kernel is asked only when there is something to do. */
export function createEdge(exec: Exec, netns: string): (wanted: ReadonlyMap<string, string>, look: boolean) => Promise<void> {
  let known: { id: number | undefined; routes: unknown } | undefined;
  return async (wanted, look) => {
    const now = { id: netnsId(netns), routes: [...wanted] };
    if (!look && deepEqual(known, now)) return;
    known = undefined;
    await applyEdge(exec, netns, wanted);
    known = now;
  };
}

/** Makes `wanted` (what follows each address) the routes of load balancers. A missing edge is an error only when it is to have routes. */
export async function applyEdge(exec: Exec, netns: string, wanted: ReadonlyMap<string, string>): Promise<void> {
  if (netnsId(netns) === undefined) {
    if (wanted.size > 0) throw new NotYetError(`the edge is not there yet (network namespace ${netns})`);
    return;
  }
  await ipBatch(exec, netns, edgeLines(parseEdge(await inNetns(exec, netns, observeEdge)), wanted));
}
