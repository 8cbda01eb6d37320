// Bootstrap tokens as kubeadm makes, lists and deletes them (https://kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-token/): Secrets of
// kube-system that let a machine in for a time.
import type { Secret } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { formatTime } from '#apimachinery/meta';
import type { KubeClient } from '#client';
import { bootstrapToken } from '#pki';
import type { Clock } from '#utils';
import { bootstrapGroup } from './objects.ts';
import { parseToken, tokenSecretName } from './token-text.ts';

const namespace = 'kube-system';
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const type = 'bootstrap.kubernetes.io/token';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

export interface TokenWish {
  /** Absent: a new one. */
  token?: string | undefined;
  /** 0: it never ends. */
  ttlMs: number;
  description?: string | undefined;
  usages?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
}

/** Gives the whole token. Rejects when there is one of that id. */
export async function createToken(client: KubeClient, wish: TokenWish, clock: Clock): Promise<string> {
  const {
    token = bootstrapToken(),
    ttlMs,
    description,
    usages = ['signing', 'authentication'],
    groups = [bootstrapGroup],
  } = wish;
  const { id, secret } = parseToken(token);
  const wrongUsage = usages.find((usage) => usage !== 'signing' && usage !== 'authentication');
  if (wrongUsage !== undefined)
    throw new Error(`invalid bootstrap token usage string: ${wrongUsage}, valid usage options: signing, authentication`);
  const wrong = groups.find((group) => !/^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group));
  if (wrong !== undefined)
    throw new Error(
      `bootstrap group ${JSON.stringify(wrong)} is invalid (must match \\Asystem:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\\z)`,
    );
  const data: Record<string, string> = {
    'token-id': id,
    'token-secret': secret,
    ...(ttlMs > 0 && { expiration: formatTime(clock.now() + ttlMs) }),
    ...Object.fromEntries(usages.map((usage) => [`usage-bootstrap-${usage}`, 'true'])),
    ...(groups.length > 0 && { 'auth-extra-groups': groups.join(',') }),
    ...(description && { description }),
  };
  await client.resource<Secret>(secrets, namespace).create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: tokenSecretName(id), namespace },
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  });
  return token;
}

const duration = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000);
  if (hours >= 1) return `${hours}h`;
  return ms >= 60_000 ? `${Math.floor(ms / 60_000)}m` : `${Math.max(0, Math.floor(ms / 1000))}s`;
};

/** The headings of kubeadm's list of tokens. */
export const tokenColumns = ['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS'];

export async function listTokens(client: KubeClient, clock: Clock): Promise<string[][]> {
  const { items } = await client.resource<Secret>(secrets, namespace).list({ fieldSelector: `type=${type}` });
  return items.map(({ data = {} }) => {
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
    const expires = text('expiration');
    const left = Date.parse(expires) - clock.now();
    const usages = ['authentication', 'signing'].filter((usage) => text(`usage-bootstrap-${usage}`) === 'true');
    return [
      `${text('token-id')}.${text('token-secret')}`,
      expires === '' ? '<forever>' : left > 0 ? duration(left) : '<invalid>',
      expires === '' ? '<never>' : expires,
      usages.join(',') || '<none>',
      text('description') || '<none>',
      text('auth-extra-groups') || '<none>',
    ];
  });
}

/** Takes a whole token or its id. */
export async function deleteToken(client: KubeClient, text: string): Promise<string> {
  const id = /^[a-z0-9]{6}$/.test(text) ? text : parseToken(text).id;
  try {
    await client.resource(secrets, namespace).delete(tokenSecretName(id));
  } catch (error) {
    if (isNotFound(error)) throw new Error(`there is no bootstrap token ${JSON.stringify(id)}`, { cause: error });
    throw error;
  }
  return id;
}
