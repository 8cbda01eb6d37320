// Deletes bootstrap tokens when they expire (pkg/controller/bootstrap/tokencleaner.go). Off unless asked for, as upstream's.
import type { Secret } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, type Ref, watch } from '#controller-runtime';
import { secrets } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { expiresAt, isTokenSecret } from './token-secret.ts';

export interface TokenCleanerView {
  ref: Ref;
  secret: Secret | undefined;
}

export function cleanToken({ ref, secret }: TokenCleanerView, now: number): Plan {
  if (!secret || !isTokenSecret(secret)) return { effects: [] };
  const at = expiresAt(secret);
  if (at === undefined) return { effects: [], because: 'The token never expires.' };
  if (at > now) return { effects: [], requeueAfterMs: at - now, because: 'The token has not expired yet.' };
  const { uid } = secret.metadata;
  return {
    effects: [{ op: 'delete', ref, options: { ...(uid && { preconditions: { uid } }) } }],
    because: 'The token has expired.',
  };
}

export const tokenCleaner: ControllerDefinition = defineController<TokenCleanerView>({
  name: 'token-cleaner-controller',
  aliases: ['tokencleaner'],
  for: secrets,
  serviceAccount: 'token-cleaner',
  disabledByDefault: true,
  rights: [],
  rightsIn: { 'kube-system': [allow('delete,get,list,watch', 'core', 'secrets'), recordEvents] },
  watches: [watch<Secret>({ resource: secrets, keys: (secret) => (isTokenSecret(secret) ? ownKey(secret) : []) })],
  view: (key, cache) => {
    const ref: Ref = { resource: secrets, ...splitKey(key) };
    return { ref, secret: cache.get<Secret>(secrets, ref.namespace, ref.name) };
  },
  reconcile: cleanToken,
  concurrency: 1,
});
