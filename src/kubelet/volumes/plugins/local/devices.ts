// Local volumes that are devices: each is mounted once on the node at `plugins/kubernetes.io/local-volume/mounts/<name>`, and from there into the directory of each
// pod (upstream pkg/volume/local). Which pods have it is found on the disk, also by a kubelet that starts anew.
import { mkdir, readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '#utils';
import { mountFileSystem, mountsUnder, unmount } from '../../mount-table.ts';
import type { PersistentRequest, VolumePlugin } from '../plugin.ts';
import { formatAndMount } from './format.ts';

const name = 'local-volume';
const defaultFsType = 'ext4';

export interface LocalDevices extends VolumePlugin {
  /** Resolves with the pod's path of the volume. */
  mount(request: PersistentRequest): Promise<string>;
}

const isMounted = async (path: string): Promise<boolean> => (await mountsUnder(path)).includes(path);
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export function localDevices({ exec, rootDir }: { exec: Exec; rootDir: string }): LocalDevices {
  const pods = join(rootDir, 'pods');
  const placeOf = (uid: string, volume: string): string => join(pods, uid, 'volumes', `kubernetes.io~${name}`, volume);
  const globalOf = (volume: string): string => join(rootDir, 'plugins', 'kubernetes.io', name, 'mounts', volume);
  const turns = new Map<string, Promise<unknown>>();
  /** One thing at a time is done to a device. */
  const inTurn = <T>(volume: string, work: () => Promise<T>): Promise<T> => {
    const done = (turns.get(volume) ?? Promise.resolve()).then(work, work);
    turns.set(volume, done);
    const settle = (): void => void (turns.get(volume) === done && turns.delete(volume));
    done.then(settle, settle);
    return done;
  };
  async function mount({ pod, persistentVolume, readOnly }: PersistentRequest): Promise<string> {
    const { metadata, spec } = persistentVolume;
    const [volume, device] = [metadata.name ?? '', spec?.local?.path ?? ''];
    const [target, place] = [globalOf(volume), placeOf(pod.metadata.uid ?? '', volume)];
    await mkdir(place, { recursive: true, mode: 0o750 });
    await mkdir(target, { recursive: true, mode: 0o750 });
    if (!(await isMounted(target))) {
      const fsType = spec?.local?.fsType || defaultFsType;
      await formatAndMount(exec, { device, target, fsType, options: spec?.mountOptions ?? [], readOnly });
    }
    if (!(await isMounted(place))) await mountFileSystem(exec, { type: 'bind', source: target, options: [] }, place);
    return place;
  }
  async function release(uid: string, volume: string): Promise<void> {
    for (const other of await readdir(pods)) if (other !== uid && (await isThere(placeOf(other, volume)))) return;
    const target = globalOf(volume);
    if (await isMounted(target)) await unmount(exec, target);
    await rmdir(target).catch(() => {});
  }
  return {
    name,
    // Pods reach them through claims.
    serves: () => false,
    setUp: () => Promise.reject(new Error('a local volume is reached through a claim')),
    mount: (request) => inTurn(request.persistentVolume.metadata.name ?? '', () => mount(request)),
    async tearDown(uid, names) {
      for (const volume of names) await inTurn(volume, () => release(uid, volume));
    },
  };
}
