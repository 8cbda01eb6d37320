// Bootstrap tokens: secrets of kube-system that let a new node introduce itself (KEP-130, plugin/pkg/auth/authenticator/token/bootstrap).
import type { Secret } from '#api/core/v1';
import { secretsEqual } from '#pki';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { TokenAuthenticator } from './types.ts';

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

const textOf = (secret: Secret, key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');

/** The extra groups a secret asks for; undefined when one of them is not allowed. */
function groupsOf(secret: Secret): string[] | undefined {
  const groups = new Set(['system:bootstrappers']);
  for (const group of textOf(secret, 'auth-extra-groups').split(',')) {
    const name = group.trim();
    if (name === '') continue;
    if (!groupPattern.test(name)) return undefined;
    groups.add(name);
  }
  return [...groups].sort();
}

function expired(secret: Secret, nowMs: number): boolean {
  const expiration = textOf(secret, 'expiration');
  if (expiration === '') return false;
  const at = Date.parse(expiration);
  return Number.isNaN(at) || nowMs > at;
}

/** Makes the authenticator that knows the tokens in Secrets `bootstrap-token-<id>`. */
export function createBootstrapTokenAuthenticator(cluster: ReadOnlyCluster, now: () => number): TokenAuthenticator {
  return {
    authenticateToken(token) {
      const [, id, secretPart] = tokenPattern.exec(token) ?? [];
      if (id === undefined || secretPart === undefined) return undefined;
      const secret = cluster.get<Secret>('', 'secrets', 'kube-system', `bootstrap-token-${id}`);
      if (!secret || secret.metadata.deletionTimestamp || secret.type !== 'bootstrap.kubernetes.io/token') return undefined;
      if (!secretsEqual(textOf(secret, 'token-secret'), secretPart) || textOf(secret, 'token-id') !== id) return undefined;
      if (expired(secret, now()) || textOf(secret, 'usage-bootstrap-authentication') !== 'true') return undefined;
      const groups = groupsOf(secret);
      return groups && { user: { name: `system:bootstrap:${id}`, groups } };
    },
  };
}
