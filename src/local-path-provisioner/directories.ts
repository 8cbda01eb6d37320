// Volumes as directories on the disks of the nodes, which are directories of this machine, too.
import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno, removeTree } from '#host';
import { quote } from '#utils';
import type { VolumePlace } from './reconcile/names.ts';

/** Both may be asked again for the same place; rejections are told in events and tried again. */
export interface Volumes {
  /** What is there already stays. */
  make(place: VolumePlace): Promise<void>;
  /** With all that is in it; nothing there is well, too. */
  remove(place: VolumePlace): Promise<void>;
}

const exists = (error: unknown): undefined => {
  if (!isErrno(error, 'EEXIST')) throw error;
};

/** Open to every user, for a container may run as any (as local-path-provisioner makes them); the node's disk around it is root's. */
export const directories: Volumes = {
  async make({ node, path }) {
    const parent = dirname(path);
    await mkdir(parent, { mode: 0o711 }).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) throw new Error(`node ${quote(node)} has no disk on this machine`);
      exists(error);
    });
    await mkdir(path).catch(exists);
    // Whatever the umask says.
    await chmod(path, 0o777);
  },
  async remove({ path }) {
    await removeTree(path);
  },
};

/** Of simulated nodes, where no process ever reads or writes. */
export const noDirectories: Volumes = {
  make: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
