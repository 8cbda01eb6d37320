// Volumes as directories on the disks of the nodes, which are directories of this machine, too.
import { chmod } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Descriptor, holding, isErrno, openInside, removeTree } from '#host';
import { quote } from '#utils';
import type { VolumePlace } from './reconcile/names.ts';

/** Makes and removes volumes. Each may be asked again for the same place; a rejection becomes an event, and the call is tried again. */
export interface Volumes {
  /** Makes the directory of a volume; what is in it already stays. */
  make(place: VolumePlace): Promise<void>;
  /** Removes the directory with all that is in it, if it is there. */
  remove(place: VolumePlace): Promise<void>;
}

/** Opens the folder of volumes on a disk. Rejects where a link stands in its place: what runs on the node may have put one there. */
const volumesOf = (path: string, options: { make?: number }): Promise<Descriptor> =>
  holding(Descriptor.at(dirname(dirname(path))), (disk) =>
    openInside(disk, basename(dirname(path)), { ...options, noLinks: true }),
  );

/** Directories open to every user, for a container may run as any (as local-path-provisioner makes them); the disk of the node around them is root's. */
export const directories: Volumes = {
  async make({ node, path }) {
    const opened = volumesOf(path, { make: 0o711 }).catch((error: unknown) => {
      throw isErrno(error, 'ENOENT') ? new Error(`node ${quote(node)} has no disk on this machine`, { cause: error }) : error;
    });
    await holding(opened, (volumes) =>
      // One that is there may be left by a process that ended before it set the mode.
      holding(openInside(volumes, basename(path), { make: 0o777, noLinks: true }), (made) => chmod(made.path, 0o777)),
    );
  },
  async remove({ path }) {
    try {
      await holding(volumesOf(path, {}), (volumes) => removeTree(volumes.entry(basename(path))));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  },
};

/** Makes nothing: for simulated nodes, where no process ever reads or writes. */
export const noDirectories: Volumes = {
  make: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
