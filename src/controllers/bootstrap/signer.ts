// Signs the public ConfigMap `cluster-info` with every bootstrap token that may sign, so that who knows a token can trust what it says
// (pkg/controller/bootstrap/bootstrapsigner.go). Off unless asked for, as upstream's.
import type { ConfigMap, Secret } from '#api/core/v1';
import { type ControllerDefinition, defineController, type Plan, watch, wholeCluster } from '#controller-runtime';
import { configMaps, secrets } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { detachedJws } from '#pki';
import { expiresAt, isTokenSecret, signingToken, tokenNamespace } from './token-secret.ts';

const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };
const key = `${clusterInfo.namespace}/${clusterInfo.name}`;
const signaturePrefix = 'jws-kubeconfig-';

export interface SignerView {
  configMap: ConfigMap | undefined;
  /** The Secrets of bootstrap tokens. */
  secrets: readonly Secret[];
}

export function signClusterInfo({ configMap, secrets: tokens }: SignerView, now: number): Plan {
  const content = configMap?.data?.['kubeconfig'];
  if (!configMap || content === undefined) return { effects: [] };
  const data = Object.fromEntries(Object.entries(configMap.data ?? {}).filter(([name]) => !name.startsWith(signaturePrefix)));
  const plain = Object.keys(data).length;
  for (const secret of tokens) {
    const token = signingToken(secret, now);
    if (token) data[`${signaturePrefix}${token.id}`] ??= detachedJws(content, token.id, token.secret);
  }
  const expiries = tokens.flatMap((secret) => expiresAt(secret) ?? []).filter((at) => at > now);
  // A signature goes with its token, also where nobody deletes that.
  const again = expiries.length > 0 && { requeueAfterMs: Math.min(...expiries) - now };
  const because = `${Object.keys(data).length - plain} bootstrap tokens may sign.`;
  const isSigned =
    Object.keys(data).length === Object.keys(configMap.data ?? {}).length &&
    Object.entries(data).every(([name, value]) => configMap.data?.[name] === value);
  if (isSigned) return { effects: [], because, ...again };
  const signed: ConfigMap = { ...configMap, data };
  return { effects: [{ op: 'update', resource: configMaps, object: signed }], because, ...again };
}

export const bootstrapSigner: ControllerDefinition = defineController<SignerView>({
  name: 'bootstrap-signer-controller',
  aliases: ['bootstrapsigner'],
  for: wholeCluster,
  serviceAccount: 'bootstrap-signer',
  disabledByDefault: true,
  rights: [],
  rightsIn: {
    'kube-public': [
      allow('get,list,watch', 'core', 'configmaps'),
      { ...allow('update', 'core', 'configmaps'), resourceNames: [clusterInfo.name] },
      recordEvents,
    ],
    'kube-system': [allow('get,list,watch', 'core', 'secrets')],
  },
  watches: [
    watch<ConfigMap>({
      resource: configMaps,
      keys: ({ metadata }) => (metadata.namespace === clusterInfo.namespace && metadata.name === clusterInfo.name ? [key] : []),
    }),
    watch<Secret>({ resource: secrets, keys: (secret) => (isTokenSecret(secret) ? [key] : []) }),
  ],
  view: (_key, cache) => ({
    configMap: cache.get<ConfigMap>(configMaps, clusterInfo.namespace, clusterInfo.name),
    secrets: cache.list<Secret>(secrets, tokenNamespace).filter(isTokenSecret),
  }),
  reconcile: signClusterInfo,
  concurrency: 1,
});
