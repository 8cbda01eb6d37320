// Descriptors are the process's: all its servers share them with its files, and a process without any left can do nothing at all.
import { readFileSync } from 'node:fs';

/** The share of connections among the descriptors that the process may have; the rest is for files, children and connections to others. */
const shareForConnections = 0.75;
const unknownLimit = 4_096;

function descriptorsMax(): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? unknownLimit);
  } catch {
    return unknownLimit;
  }
}

/** Connections that all servers of this process have open, and may have. */
export const processSockets = { open: 0, max: Math.floor(descriptorsMax() * shareForConnections) };
