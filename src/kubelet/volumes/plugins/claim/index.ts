// persistentVolumeClaim and ephemeral: the volume that a claim is bound to, by whichever plugin serves it.
import type { PersistentVolumeClaim, Pod, Volume } from '#api/core/v1';
import { quote } from '#utils';
import { claimedVolume, ClaimError } from '../../claims.ts';
import type { PersistentPlugin, PersistentRequest, VolumeContext, VolumePlugin, VolumeRequest } from '../plugin.ts';

/** A claim of an ephemeral volume belongs to its pod: another one of that name is somebody else's. Throws for such. */
function checkOwner(pod: Pod, { metadata }: PersistentVolumeClaim): void {
  const isOwned = metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid);
  if (isOwned) return;
  const { namespace, name } = pod.metadata;
  throw new ClaimError(
    `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${namespace}/${name} (pod is not owner)`,
  );
}

/** Throws where a container mounts a device, or takes a file system for one. */
function checkMode({ spec }: Pod, { name }: Volume, mode: string): void {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  const wrong = mode === 'Block' ? 'volumeMounts' : 'volumeDevices';
  if (containers.some((container) => container[wrong]?.some((use) => use.name === name)))
    throw new ClaimError(`volume ${name} has volumeMode ${mode}, but is specified in ${wrong}`);
}

/** Keeps the plugins of those that are mounted and may change, by pod and volume. */
export function claim({ client, clock }: VolumeContext, plugins: readonly PersistentPlugin[]): VolumePlugin {
  const changing = new Map<string, PersistentPlugin>();
  const keyOf = ({ pod, volume }: VolumeRequest): string => `${pod.metadata.uid}/${volume.name}`;
  const requestOf = async ({ pod, volume }: VolumeRequest): Promise<PersistentRequest> => {
    const { name = '', namespace = '' } = pod.metadata;
    const { claimName, readOnly = false } = volume.persistentVolumeClaim ?? { claimName: `${name}-${volume.name}` };
    const { claim, volume: persistentVolume } = await claimedVolume({ client, clock }, namespace, claimName);
    if (volume.ephemeral) checkOwner(pod, claim);
    return { pod, persistentVolume, readOnly };
  };
  return {
    name: 'claim',
    serves: (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
    async setUp(request) {
      const wanted = await requestOf(request);
      const { metadata, spec } = wanted.persistentVolume;
      const mode = spec?.volumeMode ?? 'Filesystem';
      checkMode(request.pod, request.volume, mode);
      const plugin = plugins.find((candidate) => candidate.serves(wanted.persistentVolume));
      const which = `persistent volume ${quote(metadata.name ?? '')}`;
      if (!plugin) throw new Error(`${which} is of a kind that is not supported on this node`);
      if (mode === 'Block' && !plugin.blocks) throw new Error(`${which} is of a kind that cannot be a block device`);
      const mounted = await plugin.setUp(wanted);
      if (plugin.refresh) changing.set(keyOf(request), plugin);
      const { namespace = '', name = '' } = spec?.claimRef ?? {};
      return { ...mounted, claim: { namespace, name } };
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
