// Service account tokens: signature, times, audience, and whether what they are bound to still exists (KEP-1205, pkg/serviceaccount).
// Only the signature and the parsed claims are remembered. Every request looks the bound objects up again, in memory, so that a token is
// refused as soon as its account, pod, secret or node is gone.
import type { KeyObject } from '../platform/crypto.ts';
import type { Node, Pod, Secret, ServiceAccount } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { decodeJwt, secretsEqual, verifyJwt } from '#pki';
import type { UserInfo } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { AuthenticatedUser, TokenAuthenticator } from './types.ts';
import { limits } from './limits.ts';
import { legacyIssuer, type ObjectRef, readClaims, type TokenClaims } from './service-account-claims.ts';
import { extraKeys, serviceAccountGroups, serviceAccountUserName } from './users.ts';

export interface ServiceAccountTokenOptions {
  /** `--service-account-issuer`; the first signs. */
  issuers: readonly string[];
  keys: readonly { key: KeyObject; kid: string }[];
  /** `--api-audiences`: what tokens without audience are good for. */
  apiAudiences: readonly string[];
  cluster: ReadOnlyCluster;
  now: () => number;
}

interface Verified {
  claims: TokenClaims;
  user: UserInfo;
}

const goList = (items: readonly string[]): string => `[${items.map((item) => JSON.stringify(item)).join(' ')}]`;

function userOf(claims: TokenClaims): UserInfo {
  const { namespace, serviceAccount, pod, node, id } = claims;
  const extra: Record<string, string[]> = {};
  if (id !== '' && !claims.legacy) extra[extraKeys.credentialId] = [`JTI=${id}`];
  if (pod?.name && pod.uid) {
    extra[extraKeys.podName] = [pod.name];
    extra[extraKeys.podUid] = [pod.uid];
  }
  if (node?.name) {
    extra[extraKeys.nodeName] = [node.name];
    if (node.uid) extra[extraKeys.nodeUid] = [node.uid];
  }
  return {
    name: serviceAccountUserName(namespace, serviceAccount.name ?? ''),
    ...(serviceAccount.uid && { uid: serviceAccount.uid }),
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function checkTimes(claims: TokenClaims, nowMs: number): void {
  const leeway = limits.tokenLeewayMs;
  if (claims.notBefore !== undefined && nowMs + leeway < claims.notBefore * 1000) {
    throw new Error('service account token is not valid yet');
  }
  if (claims.expires !== undefined && nowMs - leeway > claims.expires * 1000) {
    throw new Error('service account token has expired');
  }
  if (claims.issuedAt !== undefined && nowMs + leeway < claims.issuedAt * 1000) {
    throw new Error('service account token is issued in the future');
  }
}

const deletedBefore = (object: KubeObject, ms: number): boolean =>
  object.metadata.deletionTimestamp !== undefined && Date.parse(object.metadata.deletionTimestamp) < ms;

function checkServiceAccount(cluster: ReadOnlyCluster, claims: TokenClaims, deadline: number): ServiceAccount {
  const { namespace, serviceAccount } = claims;
  const name = serviceAccount.name ?? '';
  const found = cluster.get<ServiceAccount>('', 'serviceaccounts', namespace, name);
  if (!found) throw notFound({ group: '', resource: 'serviceaccounts' }, name);
  if (claims.legacy) {
    if (found.metadata.deletionTimestamp) throw new Error(`ServiceAccount ${namespace}/${name} has been deleted`);
    if (found.metadata.uid !== serviceAccount.uid) {
      throw new Error(`ServiceAccount UID (${found.metadata.uid}) does not match claim (${serviceAccount.uid})`);
    }
    return found;
  }
  if (found.metadata.uid !== serviceAccount.uid) {
    throw new Error(`service account UID (${found.metadata.uid}) does not match claim (${serviceAccount.uid})`);
  }
  if (deletedBefore(found, deadline)) throw new Error(`service account ${namespace}/${name} has been deleted`);
  return found;
}

/** `kind` as it stands in the message. */
function checkBound(object: KubeObject | undefined, ref: ObjectRef, kind: string, deadline: number): void {
  if (!object) throw new Error('service account token has been invalidated');
  if (object.metadata.uid !== ref.uid) {
    throw new Error(`${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${ref.uid})`);
  }
  if (deletedBefore(object, deadline)) throw new Error('service account token has been invalidated');
}

function checkObjects(cluster: ReadOnlyCluster, claims: TokenClaims, deadline: number): void {
  const { namespace, pod, secret, node } = claims;
  if (secret) {
    checkBound(cluster.get<Secret>('', 'secrets', namespace, secret.name ?? ''), secret, 'secret', deadline);
  }
  if (pod) checkBound(cluster.get<Pod>('', 'pods', namespace, pod.name ?? ''), pod, 'pod', deadline);
  else if (node) checkBound(cluster.get<Node>('', 'nodes', '', node.name ?? ''), node, 'node', deadline);
}

function checkLegacySecret(cluster: ReadOnlyCluster, claims: TokenClaims, token: string): void {
  const { namespace } = claims;
  const name = claims.secret?.name ?? '';
  const secret = cluster.get<Secret>('', 'secrets', namespace, name);
  if (!secret || secret.metadata.deletionTimestamp) throw new Error('Token has been invalidated');
  const stored = Buffer.from(secret.data?.token ?? '', 'base64').toString('utf8');
  if (!secretsEqual(stored, token)) throw new Error("Token does not match server's copy");
  if (secret.metadata.labels?.['kubernetes.io/legacy-token-invalid-since']) {
    throw new Error(
      `the token in secret ${namespace}/${name} for service account ${namespace}/${claims.serviceAccount.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token`,
    );
  }
}

/** The audiences the token is good for among those asked; throws when there is none. */
function audiencesFor(claims: TokenClaims, asked: readonly string[], apiAudiences: readonly string[]): string[] {
  const own = claims.audiences.length > 0 ? claims.audiences : apiAudiences;
  const common = asked.filter((audience) => own.includes(audience));
  if (common.length === 0 && apiAudiences.length > 0) {
    throw new Error(`token audiences ${goList(own)} is invalid for the target audiences ${goList(asked)}`);
  }
  return common;
}

const issuerOf = (token: string): unknown => {
  try {
    return decodeJwt(token).claims.iss;
  } catch {
    return undefined;
  }
};

/** Makes the authenticator that knows the tokens of service accounts, those in Secrets, too. */
export function createServiceAccountAuthenticator(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const { cluster, keys, apiAudiences, now } = options;
  const issuers = new Set<unknown>([...options.issuers, legacyIssuer]);
  const verified = new Map<string, Verified>();
  const verify = (token: string): Verified | undefined => {
    const known = verified.get(token);
    if (known) return known;
    if (!issuers.has(issuerOf(token))) return undefined;
    if (keys.length === 0) throw new Error('invalid signature, no keys found');
    const claims = readClaims(verifyJwt(token, keys).claims);
    const entry = { claims, user: userOf(claims) };
    if (verified.size >= limits.verifiedTokensMax) verified.delete(verified.keys().next().value as string);
    verified.set(token, entry);
    return entry;
  };
  return {
    authenticateToken(token, audiences): AuthenticatedUser | undefined {
      const entry = verify(token);
      if (!entry) return undefined;
      const { claims, user } = entry;
      const good = audiencesFor(claims, audiences, apiAudiences);
      checkTimes(claims, now());
      const deadline = now() - limits.tokenLeewayMs;
      if (claims.legacy) checkLegacySecret(cluster, claims, token);
      checkServiceAccount(cluster, claims, deadline);
      if (!claims.legacy) checkObjects(cluster, claims, deadline);
      return { user, audiences: good };
    },
  };
}
