// The folder of a control-plane machine's data, written and read by this machine's programs. Where the machine is a node, the folder is on the node's disk,
// where pods may have put links to elsewhere.
import { basename, dirname, relative } from 'node:path';
import { makeOnDisk, readOnDisk, writeOnDisk } from '../nodes/disk.ts';
import type { ControlPlaneConfig } from './config.ts';

export interface OwnFolder {
  /** The text of a file; undefined where nothing is there, or something else than a file. */
  read(path: string): Promise<string | undefined>;
  /** Makes the folder of the file where it is missing. Rejects with a sentence where a link leads to it. */
  write(path: string, content: string, mode: number): Promise<void>;
  make(path: string): Promise<void>;
}

/** All paths given to it are below `directory`. */
export function ownFolder(directory: string): OwnFolder {
  // What the folder is in is nobody's but the cluster's, or the disk as a whole.
  const disk = dirname(directory);
  const place = (path: string): [string, string, string] => [disk, relative(disk, dirname(path)), basename(path)];
  return {
    read: (path) => readOnDisk(...place(path)),
    async write(path, content, mode) {
      await makeOnDisk(disk, relative(disk, dirname(path)));
      await writeOnDisk(...place(path), content, mode);
    },
    make: (path) => makeOnDisk(disk, relative(disk, path)),
  };
}

/** Rejects with a sentence where links lead to the folders in which the data of etcd are renamed and removed by their paths. Nothing may run on the machine. */
export async function assertOwnData({ directory, etcdData }: Pick<ControlPlaneConfig, 'directory' | 'etcdData'>): Promise<void> {
  const { make } = ownFolder(directory);
  for (const folder of [directory, ...(etcdData === undefined ? [] : [dirname(etcdData)])]) await make(folder);
}
