// secret: the keys of a Secret as files, in memory (upstream pkg/volume/secret).
import { secretPayload } from '../../payload.ts';
import { defaultFileMode, orEmpty, payloadPlugin } from '../payload-plugin.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

export const secret = (context: VolumeContext): VolumePlugin =>
  payloadPlugin(context, {
    name: 'secret',
    serves: (volume) => volume.secret !== undefined,
    inMemory: true,
    async payload({ pod, volume }) {
      const { secretName = '', items, defaultMode: mode = defaultFileMode, optional } = volume.secret ?? {};
      const found = await orEmpty(context.objects.secret(pod.metadata.namespace ?? '', secretName), optional);
      return secretPayload(found, { items, mode, optional });
    },
  });
