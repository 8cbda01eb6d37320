// configMap: the keys of a ConfigMap as files (upstream pkg/volume/configmap).
import { configMapPayload } from '../../payload.ts';
import { defaultFileMode, orEmpty, payloadPlugin } from '../payload-plugin.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

export const configMap = (context: VolumeContext): VolumePlugin =>
  payloadPlugin(context, {
    name: 'configmap',
    serves: (volume) => volume.configMap !== undefined,
    inMemory: false,
    async payload({ pod, volume }) {
      const { name = '', items, defaultMode: mode = defaultFileMode, optional } = volume.configMap ?? {};
      const map = await orEmpty(context.objects.configMap(pod.metadata.namespace ?? '', name), optional);
      return configMapPayload(map, { items, mode, optional });
    },
  });
