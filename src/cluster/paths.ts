// Where clusters live on disk.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** `~/.sagong/<name>`, unless a folder is given. Absolute. */
export const dataDirOf = (name: string, given: string | undefined): string => resolve(given ?? join(homedir(), '.sagong', name));

export const clusterPaths = (dataDir: string) => ({
  pki: join(dataDir, 'pki'),
  kubeconfig: join(dataDir, 'kubeconfig'),
  /** Questions and wishes of other commands to a running cluster. */
  controlSocket: join(dataDir, 'control.sock'),
  /** The apiserver of a managed control plane, for the cluster's own user. */
  apiSocket: join(dataDir, 'apiserver.sock'),
  logs: join(dataDir, 'logs'),
  log: join(dataDir, 'logs', 'sagong.log'),
});

/** Six hex digits that mark everything of a cluster on the machine: two clusters never collide, and a later process finds what a crashed one left. */
export const clusterMark = (dataDir: string): string => createHash('sha256').update(dataDir).digest('hex').slice(0, 6);
