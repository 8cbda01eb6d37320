// Where clusters live on disk.
import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { KeptFlags } from '../flags/index.ts';

/** The path without links, as far as it is there. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || dirname(path) === path) return path;
    return join(withoutLinks(dirname(path)), basename(path));
  }
}

/** Where clusters live by default. Absolute, without links. */
export const clustersHome = (): string => withoutLinks(resolve(homedir(), '.sagong'));

/** `~/.sagong/<name>`, unless a folder is given. Absolute, and without links: by its path a cluster knows what is its own, so each has only one. */
export const dataDirOf = (name: string, given: string | undefined): string =>
  withoutLinks(resolve(given || join(homedir(), '.sagong', name)));

/** Everything that a cluster writes into its directory: nothing else in there is ours to remove. */
export const clusterEntries = [
  'apiserver.sock',
  'cloud',
  'cluster.json',
  'control-planes',
  'control.sock',
  'images',
  'kubeconfig',
  'logs',
  'machine',
  'nodes',
  'pki',
  'previous-context',
  'run.json',
  'store',
  'store-before',
  'store.moving',
] as const;

/** Unlike `existsSync` it throws where that cannot be seen: what is somebody else's is not gone. */
const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether a cluster was ever started here: a start writes its log first and its settings last. Throws where this user may not look. */
export const isClusterDir = (dataDir: string): boolean =>
  ['cluster.json', 'run.json', join('logs', 'sagong.log'), join('logs', 'up.log')].some((path) => isThere(join(dataDir, path)));

/** Whether there is nothing of a cluster but logs: whatever comes in there is of the start that looks. */
export const isUntouched = (dataDir: string): boolean =>
  clusterEntries.every((name) => name === 'logs' || !isThere(join(dataDir, name)));

/** What a start leaves that was refused for its flags. */
const isEmptyLogs = (dataDir: string, name: string): boolean =>
  name === 'logs' && statSync(join(dataDir, name)).isDirectory() && readdirSync(join(dataDir, name)).length === 0;

/** Throws a sentence where files of somebody else stand in the places of a cluster's, or everybody's do. */
export function assertFree(dataDir: string): void {
  if (dirname(dataDir) === dataDir) throw new Error(`${dataDir} cannot be a data directory; choose another one with --data-dir`);
  const isTaken = (name: string): boolean => isThere(join(dataDir, name)) && !isEmptyLogs(dataDir, name);
  const taken = isClusterDir(dataDir) ? undefined : clusterEntries.find(isTaken);
  if (taken) throw new Error(`${join(dataDir, taken)} belongs to no cluster; choose another directory with --data-dir`);
}

/** What containerd takes as the path of a unix socket (sys/socket_unix.go); the kernel takes three bytes more. */
const socketPathBytesMax = 104;

/** Throws a sentence where the data directory makes the path of a socket in it longer than those who listen there take. */
export function assertSocketPaths(dataDir: string, sockets: readonly string[]): void {
  const over = Math.max(...sockets.map((path) => Buffer.byteLength(path))) - socketPathBytesMax;
  if (over > 0)
    throw new Error(
      `the path ${dataDir} is ${over} byte${over === 1 ? '' : 's'} too long for the sockets in it; choose a shorter directory with --data-dir`,
    );
}

/** The flags by which a command that is shown to the user names this cluster. */
export function clusterFlags(name: string, dataDir: string): string {
  if (dataDir !== dataDirOf(name, undefined)) return ` --data-dir ${dataDir}`;
  return name === 'sagong' ? '' : ` --name ${name}`;
}

export const clusterPaths = (dataDir: string) => ({
  pki: join(dataDir, 'pki'),
  kubeconfig: join(dataDir, 'kubeconfig'),
  /** Questions and wishes of other commands to a running cluster. */
  controlSocket: join(dataDir, 'control.sock'),
  /** The apiserver of a managed control plane, for the cluster's own user. */
  apiSocket: join(dataDir, 'apiserver.sock'),
  store: join(dataDir, 'store'),
  logs: join(dataDir, 'logs'),
  log: join(dataDir, 'logs', 'sagong.log'),
});

/** Six hex digits that mark everything of a cluster on the machine: two clusters never collide, and a later process finds what a crashed one left. */
export const clusterMark = (dataDir: string): string => createHash('sha256').update(dataDir).digest('hex').slice(0, 6);

/** Everything a node keeps. Named by the first part of its name: paths of sockets are in there, which have about a hundred characters. */
export const nodeDir = (dataDir: string, name: string): string => join(dataDir, 'nodes', name.split('.', 1)[0] ?? name);
/** The file on a node's disk that its agent is configured by. */
export const agentConfigName = 'agent.json';
export const agentConfigPath = (dataDir: string, name: string): string => join(nodeDir(dataDir, name), agentConfigName);

/** The folder of the cluster's own cloud. */
export const cloudDir = (dataDir: string): string => join(dataDir, 'cloud');

export const controlPlanesDir = (dataDir: string): string => join(dataDir, 'control-planes');
/** The folder of a control plane's data on a machine. Where the machine is a node, too (layout `pods`), it is on the node's disk. */
export const controlPlaneDir = (dataDir: string, name: string, layout?: KeptFlags['layout']): string =>
  layout === 'pods' ? join(nodeDir(dataDir, name), 'control-plane') : join(controlPlanesDir(dataDir), name);
/** The file by which the agent of a control-plane machine is configured. */
export const controlPlaneConfigPath = (directory: string): string => join(directory, 'agent.json');

export const systemImagesDir = (dataDir: string): string => join(dataDir, 'images');
/** The image of the cluster's own programs, as an archive that nodes import. */
export const systemImagePath = (dataDir: string): string => join(systemImagesDir(dataDir), 'kubernetes.tar');
