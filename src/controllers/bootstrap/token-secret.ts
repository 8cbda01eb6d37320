// Bootstrap tokens as Secrets of kube-system (KEP-130, k8s.io/cluster-bootstrap/util/secrets).
import type { Secret } from '#api/core/v1';
import { decodeBase64 } from '#apimachinery/schema';

export const tokenNamespace = 'kube-system';

export const isTokenSecret = ({ type, metadata }: Secret): boolean =>
  type === 'bootstrap.kubernetes.io/token' && metadata.namespace === tokenNamespace;

function textOf({ data }: Secret, key: string): string {
  const bytes = decodeBase64(data?.[key] ?? '');
  return 'corruptAt' in bytes ? '' : new TextDecoder().decode(bytes);
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** When it expires, in Unix milliseconds; undefined: never. What is no date has expired. */
export function expiresAt(secret: Secret): number | undefined {
  const text = textOf(secret, 'expiration');
  if (text === '') return undefined;
  const at = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
}

/** The token, when it may sign; undefined otherwise. */
export function signingToken(secret: Secret, now: number): { id: string; secret: string } | undefined {
  const [, named] = /^bootstrap-token-([a-z0-9]{6})$/.exec(secret.metadata.name ?? '') ?? [];
  const id = textOf(secret, 'token-id');
  const key = textOf(secret, 'token-secret');
  if (named === undefined || id !== named || key === '') return undefined;
  if ((expiresAt(secret) ?? Number.POSITIVE_INFINITY) <= now) return undefined;
  return textOf(secret, 'usage-bootstrap-signing') === 'true' ? { id, secret: key } : undefined;
}
