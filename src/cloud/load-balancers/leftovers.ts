// Takes everything of load balancers off a machine without a driver: what a crashed cloud left behind.
import { readdir, rm } from 'node:fs/promises';
import { isErrno } from '#host';
import type { Clock, Exec } from '#utils';
import { edgeNetns, netnsPrefix } from '../model/index.ts';
import { findHaproxy, stopHaproxy } from './haproxy/process.ts';
import { applyEdge } from './machine/edge.ts';
import { clearRouter } from './machine/router.ts';

export interface RemoveOptions {
  exec: Exec;
  clock: Clock;
  /** The driver's folder, as in its context; removed. */
  dir: string;
}

async function routersOf(mark: string): Promise<string[]> {
  try {
    return (await readdir('/run/netns')).filter((name) => name.startsWith(`${netnsPrefix(mark)}vpc-`));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Ends HAProxy and removes addresses, routes, rules and files. Safe to repeat, also when the namespaces are gone already. */
export async function removeLoadBalancers(mark: string, { exec, clock, dir }: RemoveOptions): Promise<void> {
  await Promise.all(findHaproxy(`${dir}/`).map((pid) => stopHaproxy(pid, clock)));
  for (const netns of await routersOf(mark)) await clearRouter(exec, netns);
  await applyEdge(exec, edgeNetns(mark), new Map());
  await rm(dir, { recursive: true, force: true });
}
