// Marks, and later removes, tokens that old clusters made by themselves and that nobody has used for a year
// (pkg/controller/serviceaccount, legacy token cleaner; KEP-2799).
import type { ConfigMap, Pod, Secret, ServiceAccount } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import {
  type ControllerDefinition,
  defineController,
  type Effect,
  type Plan,
  type Ref,
  refKey,
  watch,
  wholeCluster,
} from '#controller-runtime';
import { configMaps, mergePatch, pods, refOf, secrets, serviceAccounts } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import type { ControllersConfig } from '../config.ts';
import { accountNameOf, isFor, secretsOf, tokenType } from './secrets.ts';

const dayMs = 24 * 3_600_000;
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';
/** When the apiserver began to note uses. */
const tracking: Ref = {
  resource: configMaps,
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
};

export interface CleanerView {
  tracking: { known: boolean; since: string | undefined };
  secrets: readonly Secret[];
  account(namespace: string, name: string): ServiceAccount | undefined;
  pods(namespace: string): readonly Pod[];
}

const dateOf = (ms: number): string => formatTime(ms).slice(0, 10);
const isDate = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Whether the token was made by the cluster, is old, unused, and in no pod's hands. */
function isStale(
  secret: Secret,
  view: CleanerView,
  keepFromMs: number,
  mounted: (namespace: string) => ReadonlySet<string>,
): boolean {
  const { name = '', namespace = '', creationTimestamp = '', deletionTimestamp, labels } = secret.metadata;
  if (secret.type !== tokenType || deletionTimestamp || Date.parse(creationTimestamp) >= keepFromMs) return false;
  const lastUsed = labels?.[lastUsedLabel];
  if (lastUsed !== undefined && (!isDate(lastUsed) || lastUsed >= dateOf(keepFromMs))) return false;
  const account = view.account(namespace, accountNameOf(secret));
  if (!isFor(secret, account) || !account.secrets?.some((one) => one.name === name)) return false;
  return !mounted(namespace).has(name);
}

export function cleanTokens(view: CleanerView, periodMs: number, now: number): Plan {
  if (!view.tracking.known) return { effects: [], needsLive: [tracking] };
  const since = view.tracking.since;
  if (!isDate(since) || now < Date.parse(since) + dayMs + periodMs) return { effects: [] };
  const keepFromMs = now - periodMs;
  const byNamespace = new Map<string, ReadonlySet<string>>();
  const mounted = (namespace: string): ReadonlySet<string> => {
    const names = byNamespace.get(namespace) ?? new Set(view.pods(namespace).flatMap((pod) => [...secretsOf(pod)]));
    byNamespace.set(namespace, names);
    return names;
  };
  const effects = view.secrets
    .filter((secret) => isStale(secret, view, keepFromMs, mounted))
    .flatMap((secret): Effect[] => {
      const invalidSince = secret.metadata.labels?.[invalidSinceLabel];
      const { uid, resourceVersion } = secret.metadata;
      if (!isDate(invalidSince))
        return [mergePatch(secrets, secret, { metadata: { uid, labels: { [invalidSinceLabel]: dateOf(now) } } })];
      if (invalidSince >= dateOf(keepFromMs)) return [];
      return [
        {
          op: 'delete',
          ref: refOf(secrets, secret),
          options: { ...(resourceVersion && { preconditions: { resourceVersion } }) },
        },
      ];
    });
  return { effects, ...(effects.length > 0 && { because: 'Tokens that were made automatically and are not used are a risk.' }) };
}

export const legacyTokenCleaner = (config: Pick<ControllersConfig, 'legacyTokenCleanUpPeriodMs'>): ControllerDefinition =>
  defineController<CleanerView>({
    name: 'legacy-serviceaccount-token-cleaner-controller',
    aliases: ['legacy-service-account-token-cleaner'],
    for: wholeCluster,
    serviceAccount: 'legacy-service-account-token-cleaner',
    rights: [{ ...allow('get', 'core', 'configmaps'), resourceNames: [tracking.name] }, allow('delete,patch', 'core', 'secrets')],
    watches: [
      watch<Secret>({ resource: secrets }),
      watch<ServiceAccount>({ resource: serviceAccounts }),
      watch<Pod>({ resource: pods }),
    ],
    periodic: { everyMs: dayMs, keys: () => ['tokens'] },
    view: (_key, cache, { live }) => ({
      tracking: {
        known: live.has(refKey(tracking)),
        since: (live.get(refKey(tracking)) as ConfigMap | undefined)?.data?.['since'],
      },
      secrets: cache.list<Secret>(secrets),
      account: (namespace, name) => cache.get<ServiceAccount>(serviceAccounts, namespace, name),
      pods: (namespace) => cache.list<Pod>(pods, namespace),
    }),
    reconcile: (view, now) => cleanTokens(view, config.legacyTokenCleanUpPeriodMs, now),
    concurrency: 1,
  });
