// persistentVolumeClaim and ephemeral: the volume that a claim is bound to, by whichever plugin serves it.
import { quote } from '#utils';
import { claimedVolume } from '../../claims.ts';
import type { PersistentPlugin, VolumeContext, VolumePlugin } from '../plugin.ts';

export const claim = ({ client, clock }: VolumeContext, plugins: readonly PersistentPlugin[]): VolumePlugin => ({
  name: 'claim',
  serves: (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
  async setUp({ pod, volume }) {
    const { name = '', namespace = '' } = pod.metadata;
    const { claimName, readOnly = false } = volume.persistentVolumeClaim ?? { claimName: `${name}-${volume.name}` };
    const persistentVolume = await claimedVolume({ client, clock }, namespace, claimName);
    const plugin = plugins.find((candidate) => candidate.serves(persistentVolume));
    if (plugin) return plugin.setUp({ pod, persistentVolume, readOnly });
    const which = quote(persistentVolume.metadata.name ?? '');
    throw new Error(`persistent volume ${which} is of a kind that is not supported on this node`);
  },
});
