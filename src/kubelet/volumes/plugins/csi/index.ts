// csi: volumes of CSI drivers, persistent ones and those of a pod alone (upstream pkg/volume/csi).
import type { PersistentPlugin, VolumeContext, VolumePlugin } from '../plugin.ts';
import { growIfLarger } from './grow.ts';
import { ephemeralHandle } from './places.ts';
import { inlineVolumeOf, persistentVolumeOf } from './requests.ts';
import { isCsi } from './volumes.ts';

/** Takes both kinds away again: they are in the same folders. */
export const csi = ({ csi: volumes }: VolumeContext): VolumePlugin => ({
  name: 'csi',
  unmounts: true,
  serves: (volume) => volume.csi !== undefined,
  setUp({ pod, volume }) {
    const handle = ephemeralHandle(pod.metadata.uid ?? '', volume.name);
    return volumes.setUp(pod, inlineVolumeOf(pod, volume.name, handle, volume.csi ?? { driver: '' }));
  },
  tearDown: (uid, names) => volumes.tearDown(uid, names),
});

export const persistentCsi = (context: VolumeContext): PersistentPlugin => ({
  serves: isCsi,
  async setUp({ pod, persistentVolume, readOnly }) {
    const mounted = await context.csi.setUp(pod, persistentVolumeOf(persistentVolume, readOnly));
    await growIfLarger(context, pod, persistentVolume);
    return mounted;
  },
  refresh: ({ pod, persistentVolume }) => growIfLarger(context, pod, persistentVolume),
});
