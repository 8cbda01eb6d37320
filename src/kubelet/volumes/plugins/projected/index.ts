// projected: several sources in one directory, tokens among them (upstream pkg/volume/projected).
import type { Pod, VolumeProjection } from '#api/core/v1';
import { configMapPayload, downwardPayload, type Payload, secretPayload, tokenPayload } from '../../payload.ts';
import { defaultFileMode, orEmpty, payloadPlugin } from '../payload-plugin.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

const tokenSeconds = 3600;

async function partOf(context: VolumeContext, pod: Pod, source: VolumeProjection, mode: number): Promise<Payload> {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, ...others } = source;
  const { objects, tokens, downward } = context;
  const namespace = pod.metadata.namespace ?? '';
  if (configMap) {
    const { name = '', items, optional } = configMap;
    return configMapPayload(await orEmpty(objects.configMap(namespace, name), optional), { items, mode, optional });
  }
  if (secret) {
    const { name = '', items, optional } = secret;
    return secretPayload(await orEmpty(objects.secret(namespace, name), optional), { items, mode, optional });
  }
  if (downwardAPI) return downwardPayload(pod, downwardAPI.items, mode, downward(pod));
  if (!token) throw new Error(`projected volume source ${Object.keys(others)[0] ?? 'unknown'} is not supported on this node`);
  const value = await tokens.get(pod, token.audience, token.expirationSeconds ?? tokenSeconds);
  return tokenPayload(pod, token.path, value, mode);
}

export const projected = (context: VolumeContext): VolumePlugin =>
  payloadPlugin(context, {
    name: 'projected',
    serves: (volume) => volume.projected !== undefined,
    showsPod: ({ projected: own }) => (own?.sources ?? []).some(({ downwardAPI }) => downwardAPI !== undefined),
    inMemory: true,
    async payload({ pod, volume }) {
      const { sources = [], defaultMode = defaultFileMode } = volume.projected ?? {};
      const all: Payload = new Map();
      for (const source of sources ?? [])
        for (const [path, file] of await partOf(context, pod, source, defaultMode)) all.set(path, file);
      return all;
    },
  });
