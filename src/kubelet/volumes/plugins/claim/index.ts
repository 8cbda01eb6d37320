// persistentVolumeClaim and ephemeral: the volume that a claim is bound to, by whichever plugin serves it.
import { quote } from '#utils';
import { claimedVolume } from '../../claims.ts';
import type { PersistentPlugin, PersistentRequest, VolumeContext, VolumePlugin, VolumeRequest } from '../plugin.ts';

/** Keeps the plugins of those that are mounted and may change, by pod and volume. */
export function claim({ client, clock }: VolumeContext, plugins: readonly PersistentPlugin[]): VolumePlugin {
  const changing = new Map<string, PersistentPlugin>();
  const keyOf = ({ pod, volume }: VolumeRequest): string => `${pod.metadata.uid}/${volume.name}`;
  const requestOf = async ({ pod, volume }: VolumeRequest): Promise<PersistentRequest> => {
    const { name = '', namespace = '' } = pod.metadata;
    const { claimName, readOnly = false } = volume.persistentVolumeClaim ?? { claimName: `${name}-${volume.name}` };
    return { pod, persistentVolume: await claimedVolume({ client, clock }, namespace, claimName), readOnly };
  };
  return {
    name: 'claim',
    serves: (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
    async setUp(request) {
      const wanted = await requestOf(request);
      const plugin = plugins.find((candidate) => candidate.serves(wanted.persistentVolume));
      if (!plugin) {
        const which = quote(wanted.persistentVolume.metadata.name ?? '');
        throw new Error(`persistent volume ${which} is of a kind that is not supported on this node`);
      }
      const mounted = await plugin.setUp(wanted);
      if (plugin.refresh) changing.set(keyOf(request), plugin);
      return mounted;
    },
    async refresh(request) {
      const plugin = changing.get(keyOf(request));
      if (plugin) await plugin.refresh?.(await requestOf(request));
    },
    forget(uid) {
      for (const key of changing.keys()) if (key.startsWith(`${uid}/`)) changing.delete(key);
    },
  };
}
