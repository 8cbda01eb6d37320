// hostPath: what the node has at a path (upstream pkg/volume/hostpath). As a volume of a pod and as a persistent one.
import type { PersistentPlugin, VolumePlugin } from '../plugin.ts';
import { checkHostPath } from './check.ts';

export const hostPath: VolumePlugin = {
  name: 'host-path',
  serves: (volume) => volume.hostPath !== undefined,
  async setUp({ volume }) {
    const { path, type = '' } = volume.hostPath ?? { path: '' };
    await checkHostPath(path, type);
    return { hostPath: path, readOnly: false };
  },
};

export const persistentHostPath: PersistentPlugin = {
  serves: ({ spec }) => spec?.hostPath !== undefined,
  async setUp({ persistentVolume, readOnly }) {
    const { path, type = '' } = persistentVolume.spec?.hostPath ?? { path: '' };
    await checkHostPath(path, type);
    return { hostPath: path, readOnly };
  },
};
