// What others verify service account tokens with: the OpenID discovery document and the keys (pkg/serviceaccount/openidmetadata.go,
// pkg/routes/openidmetadata.go). Who may read them is a matter of access rules (system:service-account-issuer-discovery).
import { exportJwks, keyId, parsePublicKeys } from '#pki';
import type { PublishedDocument } from '../endpoints/published-document.ts';
import type { KubeApiServerOptions } from './options.ts';

export const jwksPath = '/openid/v1/jwks';
const configurationPath = '/.well-known/openid-configuration';
const cached = { 'cache-control': 'public, max-age=3600' };

function isHttps(text: string): boolean {
  try {
    const { protocol, search, hash } = new URL(text);
    return protocol === 'https:' && search === '' && hash === '';
  } catch {
    return false;
  }
}

/** Throws an Error for a --service-account-jwks-uri that is no https URL. */
export function checkJwksUri(uri: string): string {
  if (uri !== '' && !isHttps(uri)) throw new Error(`service-account-jwks-uri requires https scheme, parsed as: ${uri}`);
  return uri;
}

/**
 * The OpenID Connect discovery documents by their path. As upstream, the map is empty where the first issuer is not an https URL or there are no
 * keys.
 */
export function openIdDocuments(
  options: Pick<KubeApiServerOptions, 'serviceAccountIssuers' | 'serviceAccountKeys' | 'serviceAccountSigningKey' | 'jwksUri'>,
  address: () => string,
): ReadonlyMap<string, () => PublishedDocument> {
  const { serviceAccountIssuers: issuers, serviceAccountKeys, serviceAccountSigningKey: signing, jwksUri } = options;
  const issuer = issuers[0] ?? '';
  const pems = serviceAccountKeys.length > 0 ? serviceAccountKeys : signing === undefined ? [] : [signing];
  if (!isHttps(issuer) || pems.length === 0) return new Map();
  const byId = new Map(pems.flatMap(parsePublicKeys).map((key) => [keyId(key), key]));
  const keySet = exportJwks([...byId.values()]);
  const algorithms = [...new Set(keySet.keys.map(({ alg }) => String(alg)))].sort();
  const configuration = (): object => ({
    issuer,
    jwks_uri: jwksUri || `https://${address()}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: algorithms,
  });
  return new Map([
    [configurationPath, () => ({ type: 'application/json', headers: cached, body: JSON.stringify(configuration()) })],
    [jwksPath, () => ({ type: 'application/jwk-set+json', headers: cached, body: JSON.stringify(keySet) })],
  ]);
}
