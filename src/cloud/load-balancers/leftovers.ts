// Takes off a machine what drivers of load balancers that crashed left behind.
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { namesIfExists } from '#host';
import type { Clock, Exec } from '#utils';
import { edgeNetns, netnsPrefix } from '../model/index.ts';
import { findHaproxy, stopHaproxy } from './haproxy/process.ts';
import { applyEdge } from './machine/edge.ts';
import { clearRouter } from './machine/router.ts';

export interface RemoveOptions {
  exec: Exec;
  clock: Clock;
  /** The driver's folder, as in its context. */
  dir: string;
}

async function namesIn(dir: string, prefix: string): Promise<string[]> {
  return (await namesIfExists(dir)).filter((name) => name.startsWith(prefix));
}

/** Ends every HAProxy below the folder, and removes its files, but for those of routers that are to be kept. */
export async function removeHaproxies(
  mark: string,
  { clock, dir }: Omit<RemoveOptions, 'exec'>,
  kept: ReadonlySet<string>,
): Promise<void> {
  const gone = (netns: string): boolean => !kept.has(netns);
  const running = [...findHaproxy(`${dir}/`)].filter(([, file]) => gone(basename(dirname(file))));
  await Promise.all(running.map(([pid]) => stopHaproxy(pid, clock)));
  for (const netns of (await namesIn(dir, netnsPrefix(mark))).filter(gone))
    await rm(join(dir, netns), { recursive: true, force: true });
}

/** Ends HAProxy and removes addresses, routes, rules and files. Safe to repeat, also when the namespaces are gone already. */
export async function removeLoadBalancers(mark: string, { exec, clock, dir }: RemoveOptions): Promise<void> {
  await removeHaproxies(mark, { clock, dir }, new Set());
  for (const netns of await namesIn('/run/netns', `${netnsPrefix(mark)}vpc-`)) await clearRouter(exec, netns);
  await applyEdge(exec, edgeNetns(mark), new Map());
}
