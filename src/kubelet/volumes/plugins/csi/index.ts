// csi: volumes of CSI drivers, persistent ones and those of a pod alone (upstream pkg/volume/csi).
import type { Pod, Volume } from '#api/core/v1';
import type { PersistentPlugin, VolumeContext, VolumePlugin } from '../plugin.ts';
import { growIfLarger } from './grow.ts';
import { ephemeralHandle } from './places.ts';
import { type CsiVolume, inlineVolumeOf, persistentVolumeOf } from './requests.ts';
import { isCsi } from './volumes.ts';

const inline = (pod: Pod, { name, csi: source }: Volume): CsiVolume =>
  inlineVolumeOf(pod, name, ephemeralHandle(pod.metadata.uid ?? '', name), source ?? { driver: '' });

/** Takes both kinds away again: they are in the same folders. */
export const csi = ({ csi: volumes }: VolumeContext): VolumePlugin => ({
  name: 'csi',
  unmounts: true,
  serves: (volume) => volume.csi !== undefined,
  setUp: ({ pod, volume }) => volumes.setUp(pod, inline(pod, volume)),
  refresh: ({ pod, volume }) => volumes.republish(pod, inline(pod, volume)),
  tearDown: (uid) => volumes.tearDown(uid),
});

export const persistentCsi = (context: VolumeContext): PersistentPlugin => ({
  serves: isCsi,
  blocks: true,
  async setUp({ pod, persistentVolume, readOnly }) {
    const mounted = await context.csi.setUp(pod, persistentVolumeOf(persistentVolume, readOnly));
    await growIfLarger(context, pod, persistentVolume, readOnly);
    return mounted;
  },
  async refresh({ pod, persistentVolume, readOnly }) {
    await context.csi.republish(pod, persistentVolumeOf(persistentVolume, readOnly));
    if (!readOnly) await growIfLarger(context, pod, persistentVolume, readOnly);
  },
});
