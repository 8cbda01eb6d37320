// What a service account token says (KEP-1205 bound tokens, pkg/serviceaccount/claims.go).
import type { Node, Pod, Secret, ServiceAccount } from '#api/core/v1';
import { serviceAccountUserName, splitServiceAccountName } from './users.ts';

/** The issuer of tokens in secrets. */
export const legacyIssuer = 'kubernetes/serviceaccount';

export interface ObjectRef {
  name?: string;
  uid?: string;
}

/** The private claim `kubernetes.io` of a service account's token. */
export interface KubernetesClaims {
  namespace?: string;
  serviceaccount?: ObjectRef;
  pod?: ObjectRef;
  secret?: ObjectRef;
  node?: ObjectRef;
  /** Seconds since the epoch. */
  warnafter?: number;
}

/** Claims of a bound token; times are seconds since the epoch. */
export interface BoundClaims {
  iss: string;
  sub: string;
  aud: string[];
  iat: number;
  nbf: number;
  exp: number;
  jti: string;
  'kubernetes.io': KubernetesClaims;
}

/** Tokens that pods get by default live a year, so that old clients that never read the file again keep working; they warn after this. */
export const warnOnlyExpirationSeconds = 60 * 60 + 7;
export const extendedExpirationSeconds = 365 * 24 * 60 * 60;

export interface BoundClaimsRequest {
  issuer: string;
  serviceAccount: ServiceAccount;
  /** At most one of pod and secret; `node` with `pod` is information, alone it binds. */
  pod?: Pod;
  secret?: Secret;
  node?: { metadata: Node['metadata'] };
  audiences: readonly string[];
  expirationSeconds: number;
  /** 0: none. */
  warnAfterSeconds: number;
  nowMs: number;
  id: string;
}

const refOf = (object: { metadata: { name?: string; uid?: string } }): ObjectRef => ({
  name: object.metadata.name,
  ...(object.metadata.uid && { uid: object.metadata.uid }),
});

/** The claims of one token, in the order of their names, as upstream's. */
export function boundClaims(request: BoundClaimsRequest): BoundClaims {
  const { serviceAccount, pod, secret, node } = request;
  const now = Math.floor(request.nowMs / 1000);
  const { namespace = '', name = '' } = serviceAccount.metadata;
  return {
    aud: [...request.audiences],
    exp: now + request.expirationSeconds,
    iat: now,
    iss: request.issuer,
    jti: request.id,
    'kubernetes.io': {
      namespace,
      ...(node && { node: refOf(node) }),
      ...(pod && { pod: refOf(pod) }),
      ...(secret && { secret: refOf(secret) }),
      serviceaccount: refOf(serviceAccount),
      ...(request.warnAfterSeconds !== 0 && { warnafter: now + request.warnAfterSeconds }),
    },
    nbf: now,
    sub: serviceAccountUserName(namespace, name),
  };
}

/** What a verified token says, whichever generation it is of. */
export interface TokenClaims {
  issuer: string;
  subject: string;
  audiences: string[];
  id: string;
  notBefore?: number;
  expires?: number;
  issuedAt?: number;
  namespace: string;
  serviceAccount: ObjectRef;
  pod?: ObjectRef;
  secret?: ObjectRef;
  node?: ObjectRef;
  /** A token of a secret, without expiry or audience. */
  legacy: boolean;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function ref(value: unknown): ObjectRef | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, uid } = value as Record<string, unknown>;
  return { name: text(name), uid: text(uid) };
}

const legacyPrefix = 'kubernetes.io/serviceaccount/';

function legacyClaims(
  claims: Record<string, unknown>,
  common: Omit<TokenClaims, 'namespace' | 'serviceAccount' | 'legacy'>,
): TokenClaims {
  const claim = (key: string): string => text(claims[legacyPrefix + key]);
  const namespace = claim('namespace');
  const name = claim('service-account.name');
  const uid = claim('service-account.uid');
  const secretName = claim('secret.name');
  if (common.subject === '') throw new Error('sub claim is missing');
  if (namespace === '') throw new Error('namespace claim is missing');
  if (secretName === '') throw new Error('secretName claim is missing');
  if (name === '') throw new Error('serviceAccountName claim is missing');
  if (uid === '') throw new Error('serviceAccountUID claim is missing');
  const subject = splitServiceAccountName(common.subject);
  if (subject?.namespace !== namespace || subject.name !== name) throw new Error('sub claim is invalid');
  return { ...common, namespace, serviceAccount: { name, uid }, secret: { name: secretName }, legacy: true };
}

/** Reads claims whose signature was verified. Throws an Error for claims that name nobody. */
export function readClaims(claims: Record<string, unknown>): TokenClaims {
  const audience = claims.aud;
  const common = {
    issuer: text(claims.iss),
    subject: text(claims.sub),
    audiences: Array.isArray(audience) ? audience.filter((item) => typeof item === 'string') : audience ? [text(audience)] : [],
    id: text(claims.jti),
    notBefore: number(claims.nbf),
    expires: number(claims.exp),
    issuedAt: number(claims.iat),
  };
  if (common.issuer === legacyIssuer) return legacyClaims(claims, common);
  const bound = (claims['kubernetes.io'] ?? {}) as Record<string, unknown>;
  return {
    ...common,
    namespace: text(bound.namespace),
    serviceAccount: ref(bound.serviceaccount) ?? {},
    ...(bound.pod !== undefined && { pod: ref(bound.pod) }),
    ...(bound.secret !== undefined && { secret: ref(bound.secret) }),
    ...(bound.node !== undefined && { node: ref(bound.node) }),
    legacy: false,
  };
}
