// Which namespace has a name now, as names are given to new ones when a network is made again.
import { statSync } from 'node:fs';

const inode = (path: string): number | undefined => {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
};

/** Identifies the namespace that has the name now; undefined: there is none. */
export const netnsId = (netns: string): number | undefined => inode(`/run/netns/${netns}`);

export const livesIn = (pid: number, netns: string): boolean => {
  const id = netnsId(netns);
  return id !== undefined && inode(`/proc/${pid}/ns/net`) === id;
};
