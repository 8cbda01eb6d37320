// local: a directory or a device of the node as a persistent volume (upstream pkg/volume/local).
import { stat, statfs } from 'node:fs/promises';
import { isErrno } from '#host';
import type { VolumeUse } from '../../../container/volume.ts';
import { giveToGroup } from '../directory.ts';
import { checkHostPath } from '../host-path/check.ts';
import type { PersistentPlugin, PersistentRequest } from '../plugin.ts';
import type { LocalDevices } from './devices.ts';

/** The space of the file system that the directory is on. */
async function spaceAt(path: string): Promise<VolumeUse> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  return {
    bytes: { available: bavail * bsize, total: blocks * bsize, used: (blocks - bfree) * bsize },
    inodes: { available: ffree, total: files, used: files - ffree },
  };
}

async function isDevice(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isBlockDevice();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Makes the plugin of local volumes. `devices` mounts those that are to be file systems. */
export const local = (devices: LocalDevices): PersistentPlugin => ({
  serves: ({ spec }) => spec?.local !== undefined,
  blocks: true,
  async setUp(request: PersistentRequest) {
    const { pod, persistentVolume, readOnly } = request;
    const path = persistentVolume.spec?.local?.path ?? '';
    if (persistentVolume.spec?.volumeMode === 'Block') {
      await checkHostPath(path, 'BlockDevice');
      return { hostPath: path, readOnly, block: true };
    }
    const device = await isDevice(path);
    if (!device) await checkHostPath(path, 'Directory');
    const hostPath = device ? await devices.mount(request) : path;
    await giveToGroup(pod, hostPath, readOnly);
    return { hostPath, readOnly, stats: () => spaceAt(hostPath) };
  },
});
