// Volumes whose files come from the API: written as a whole, written anew when their source changes, for reading only.
import type { ConfigMap, Secret } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { writeVolume } from '../atomic-writer.ts';
import type { Payload } from '../payload.ts';
import { makeDirectory } from './directory.ts';
import type { VolumeContext, VolumePlugin, VolumeRequest } from './plugin.ts';

export const defaultFileMode = 0o644;

interface PayloadSource extends Pick<VolumePlugin, 'name' | 'serves' | 'showsPod'> {
  /** The files must not reach a disk. */
  inMemory: boolean;
  payload(request: VolumeRequest): Promise<Payload>;
}

export function payloadPlugin({ clock, rng, exec }: VolumeContext, source: PayloadSource): VolumePlugin {
  const { inMemory, payload, ...plugin } = source;
  const write = async (request: VolumeRequest): Promise<void> => {
    const gid = request.pod.spec?.securityContext?.fsGroup;
    await writeVolume(request.path, await payload(request), { nowMs: clock.now(), salt: rng.int(2 ** 32), gid });
  };
  return {
    ...plugin,
    async setUp(request) {
      await makeDirectory(exec, request.path, inMemory);
      await write(request);
      return { hostPath: request.path, readOnly: true };
    },
    refresh: write,
  };
}

/** The object, or an empty one in place of an optional object that does not exist. */
export async function orEmpty<T extends ConfigMap | Secret>(read: Promise<T>, optional: boolean | undefined): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (optional && isNotFound(error)) return { metadata: {} } as T;
    throw error;
  }
}
