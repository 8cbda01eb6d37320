// downwardAPI: what a pod may know of itself, as files (upstream pkg/volume/downwardapi).
import { downwardPayload } from '../../payload.ts';
import { defaultFileMode, payloadPlugin } from '../payload-plugin.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

export const downwardApi = (context: VolumeContext): VolumePlugin =>
  payloadPlugin(context, {
    name: 'downward-api',
    serves: (volume) => volume.downwardAPI !== undefined,
    showsPod: () => true,
    inMemory: true,
    async payload({ pod, volume }) {
      const { items, defaultMode = defaultFileMode } = volume.downwardAPI ?? {};
      return downwardPayload(pod, items, defaultMode, context.downward(pod));
    },
  });
