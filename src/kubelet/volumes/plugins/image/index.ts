// image: the root file system of an image, for reading (KEP-4639). The image is pulled with those of the containers that mount it; the volume is
// mounted when the first of them is made.
import { mkdir } from 'node:fs/promises';
import { isUnimplemented, type SnapshotMount } from '#cri';
import { mountFileSystem, mountsUnder } from '../../mount-table.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

/** Nothing of an image has rights of its own on the node. */
const always = ['ro', 'nosuid', 'nodev'];

export interface ImageVolumes extends VolumePlugin {
  /** Mounts an image that is on the node at the place of a volume that was set up. */
  mountImage(uid: string, volumeName: string, path: string, image: string): Promise<void>;
}

const keyOf = (uid: string, volumeName: string): string => `image-volume/${uid}/${volumeName}`;

export function image({ snapshots, exec }: VolumeContext): ImageVolumes {
  const view = async (key: string, name: string): Promise<SnapshotMount> => {
    const mounts = await snapshots.view(key, name).catch((error: unknown) => {
      if (isUnimplemented(error)) throw new Error('volume source image is not supported by the container runtime of this node');
      throw error;
    });
    const [mount] = mounts;
    if (mount === undefined || mounts.length > 1) throw new Error(`image ${name} cannot be mounted by itself`);
    return mount;
  };
  return {
    name: 'image',
    serves: (volume) => volume.image !== undefined,
    async setUp({ path }) {
      await mkdir(path, { recursive: true, mode: 0o750 });
      return { hostPath: path, readOnly: true };
    },
    async mountImage(uid, volumeName, path, name) {
      if ((await mountsUnder(path)).includes(path)) return;
      const { type, source, options } = await view(keyOf(uid, volumeName), name);
      const own = options.filter((option) => option !== 'rw' && !always.includes(option));
      await mountFileSystem(exec, { type, source, options: [...own, ...always] }, path);
    },
    async tearDown(uid, names) {
      for (const name of names) await snapshots.remove(keyOf(uid, name));
    },
  };
}
