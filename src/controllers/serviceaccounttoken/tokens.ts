// Fills Secrets of type kubernetes.io/service-account-token, and removes those whose account is gone (pkg/controller/serviceaccount, tokens).
import type { Secret, ServiceAccount } from '#api/core/v1';
import { type KubeObject, splitKey } from '#apimachinery/meta';
import { encodeBase64 } from '#apimachinery/schema';
import { type ControllerDefinition, defineController, ownKey, type Plan, type Ref, refKey, watch } from '#controller-runtime';
import { refOf, secrets, serviceAccounts } from '#controller-runtime/platform';
import { type JwtSigner, jwtSigner, parsePrivateKey, parsePublicKeys } from '#pki';
import type { ControllersConfig } from '../config.ts';
import { accountNameOf, isFor, nameAnnotation, tokenType, uidAnnotation } from './secrets.ts';

const issuer = 'kubernetes/serviceaccount';
const accountIndex = 'serviceAccount';

export interface TokenView {
  secret: Secret | undefined;
  account: ServiceAccount | undefined;
  live: ReadonlyMap<string, KubeObject | undefined>;
}

const base64 = (text: string): string => encodeBase64(new TextEncoder().encode(text));

/** What a token of this kind says; it never expires. */
export const claimsOf = ({ metadata }: ServiceAccount, secretName: string): Record<string, string> => ({
  iss: issuer,
  'kubernetes.io/serviceaccount/namespace': metadata.namespace ?? '',
  'kubernetes.io/serviceaccount/secret.name': secretName,
  'kubernetes.io/serviceaccount/service-account.name': metadata.name ?? '',
  'kubernetes.io/serviceaccount/service-account.uid': metadata.uid ?? '',
  sub: `system:serviceaccount:${metadata.namespace}:${metadata.name}`,
});

/** `sign` makes a token of claims; the same claims may give another token each time. */
export function reconcileToken({ secret, account: cached, live }: TokenView, rootCa: string, sign: JwtSigner['sign']): Plan {
  const name = secret && accountNameOf(secret);
  if (!secret || !name || secret.type !== tokenType || secret.metadata.deletionTimestamp) return { effects: [] };
  const ask: Ref = { resource: serviceAccounts, namespace: secret.metadata.namespace ?? '', name };
  let account = cached;
  if (!isFor(secret, account)) {
    if (!live.has(refKey(ask))) return { effects: [], needsLive: [ask] };
    account = live.get(refKey(ask));
  }
  if (!isFor(secret, account)) {
    const { uid } = secret.metadata;
    return {
      effects: [{ op: 'delete', ref: refOf(secrets, secret), options: { ...(uid && { preconditions: { uid } }) } }],
      because: `Its service account ${name} is gone.`,
    };
  }
  const data = secret.data ?? {};
  const wanted = {
    ...(rootCa !== '' && data['ca.crt'] !== base64(rootCa) && { 'ca.crt': base64(rootCa) }),
    ...(!data['namespace'] && { namespace: base64(secret.metadata.namespace ?? '') }),
    ...(!data['token'] && { token: base64(sign(claimsOf(account, secret.metadata.name ?? ''))) }),
  };
  if (Object.keys(wanted).length === 0) return { effects: [] };
  const annotations = { ...secret.metadata.annotations, [nameAnnotation]: name, [uidAnnotation]: account.metadata.uid ?? '' };
  const object: Secret = { ...secret, metadata: { ...secret.metadata, annotations }, data: { ...data, ...wanted } };
  return { effects: [{ op: 'update', resource: secrets, object }], because: `It asks for a token of service account ${name}.` };
}

const signerOf = (key: string): JwtSigner => {
  const [publicKey] = parsePublicKeys(key);
  if (!publicKey) throw new Error('the service account signing key holds no key');
  return jwtSigner(parsePrivateKey(key), publicKey);
};

export function tokensController(config: Pick<ControllersConfig, 'rootCa' | 'serviceAccountSigningKey'>): ControllerDefinition {
  const { rootCa, serviceAccountSigningKey } = config;
  const signer = serviceAccountSigningKey === undefined ? undefined : signerOf(serviceAccountSigningKey);
  return defineController<TokenView>({
    name: 'serviceaccount-token-controller',
    aliases: ['serviceaccount-token'],
    for: secrets,
    concurrency: { flag: 'concurrent-serviceaccount-token-syncs', default: 5 },
    serviceAccount: '',
    // It writes as the manager itself, which may read and write secrets.
    rights: [],
    watches: [
      watch<Secret>({
        resource: secrets,
        indexers: {
          [accountIndex]: (secret) =>
            secret.type === tokenType ? [`${secret.metadata.namespace}/${accountNameOf(secret)}`] : [],
        },
        keys: (secret) => (signer && secret.type === tokenType ? ownKey(secret) : []),
      }),
      watch<ServiceAccount>({
        resource: serviceAccounts,
        keys: (account, old, cache) =>
          old || !signer ? [] : cache.byIndex<Secret>(secrets, accountIndex, ownKey(account)[0] ?? '').flatMap(ownKey),
      }),
    ],
    view(key, cache, { live }) {
      const { namespace, name } = splitKey(key);
      const secret = cache.get<Secret>(secrets, namespace, name);
      const account = secret && cache.get<ServiceAccount>(serviceAccounts, namespace, accountNameOf(secret));
      return { secret, account, live };
    },
    reconcile: (view) => (signer ? reconcileToken(view, rootCa, (claims) => signer.sign(claims)) : { effects: [] }),
  });
}
