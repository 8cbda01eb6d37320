// local: a directory of the node's disks as a persistent volume (upstream pkg/volume/local).
import { checkHostPath } from '../host-path/check.ts';
import { giveToGroup } from '../directory.ts';
import type { PersistentPlugin } from '../plugin.ts';

export const local: PersistentPlugin = {
  serves: ({ spec }) => spec?.local !== undefined,
  async setUp({ pod, persistentVolume, readOnly }) {
    const path = persistentVolume.spec?.local?.path ?? '';
    await checkHostPath(path, 'Directory');
    await giveToGroup(pod, path, readOnly);
    return { hostPath: path, readOnly };
  },
};
