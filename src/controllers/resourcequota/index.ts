// Counts what a namespace uses of its quotas (pkg/controller/resourcequota). Admission adds to the counts; this loop takes off what is
// deleted, and sets right what drifted.
import type { ResourceQuota } from '#api/core/v1';
import {
  type ControllerDefinition,
  defineController,
  type DiscoveredResource,
  ownKey,
  type Plan,
  supports,
  watch,
  type WatchDefinition,
} from '#controller-runtime';
import { resourceQuotas } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { type Amounts, type Evaluator, evaluatorOf, scopesOf } from '#component-helpers/quota';
import { keyOf, type KubeObject, splitKey } from '#apimachinery/meta';
import { parseQuantity, zeroQuantity } from '#apimachinery/quantity';
import { deepEqual, own } from '#utils';
import type { ControllersConfig } from '../config.ts';

const discoveryPeriodMs = 30_000;

export interface Counted {
  evaluator: Evaluator;
  objects: readonly KubeObject[];
}

export interface QuotaView {
  quota: ResourceQuota | undefined;
  /** The objects of every resource that the quota's names are about. */
  counted: readonly Counted[];
}

const isIgnored = ({ group, resource }: DiscoveredResource): boolean =>
  resource === 'events' && (group === '' || group === 'events.k8s.io');

const isCounted = (resource: DiscoveredResource): boolean =>
  resource.preferred && resource.namespaced && supports(resource, 'create', 'list', 'watch', 'delete') && !isIgnored(resource);

const names = (quota: ResourceQuota): string[] => Object.keys(quota.spec?.hard ?? {});

function add(total: Amounts, usage: Amounts): void {
  for (const [name, amount] of usage) total.set(name, total.get(name)?.add(amount) ?? amount);
}

/** What is used now, by the names of the quota that are counted here. */
export function usageOf(quota: ResourceQuota, counted: readonly Counted[], now: number): Record<string, string> {
  const total: Amounts = new Map();
  const scopes = scopesOf(quota);
  const counts = new Set<string>();
  for (const { evaluator, objects } of counted) {
    for (const name of names(quota)) if (evaluator.counts(name)) counts.add(name);
    for (const object of objects)
      if (scopes.every((scope) => evaluator.matchesScope(scope, object))) add(total, evaluator.usage(object, now));
  }
  const known = quota.status?.used ?? {};
  return Object.fromEntries(
    names(quota).flatMap((name) => {
      if (counts.has(name)) return [[name, String(total.get(name) ?? zeroQuantity)]];
      const before = own(known, name);
      return before === undefined ? [] : [[name, before]];
    }),
  );
}

const sameAmounts = (a: Record<string, string>, b: Record<string, string> | undefined): boolean =>
  b !== undefined &&
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, text]) => parseQuantity(own(b, name) ?? '-1').compare(parseQuantity(text)) === 0);

export function reconcileQuota({ quota, counted }: QuotaView, now: number): Plan {
  if (!quota) return { effects: [] };
  const used = usageOf(quota, counted, now);
  const hard = quota.spec?.hard ?? {};
  if (sameAmounts(used, quota.status?.used) && sameAmounts(hard, quota.status?.hard)) return { effects: [] };
  const object: ResourceQuota = { ...quota, status: { hard, used } };
  return {
    effects: [{ op: 'update', resource: resourceQuotas, subresource: 'status', object }],
    because: 'What the namespace uses was counted anew.',
  };
}

interface Event {
  evaluator: Evaluator;
  object: KubeObject;
  old: KubeObject | undefined;
  /** It is there, and was not before. */
  isNew: boolean;
}

/**
 * Quotas to count anew because an object went or changed what it uses. What is new was added by admission before it was stored; to count then would take
 * away what admission has added for others that are on their way into the store, and let more in than the quota has.
 */
function* quotasOf({ evaluator, object, old, isNew }: Event, quotas: readonly ResourceQuota[]): Iterable<string> {
  if (quotas.length === 0 || (old && sameUsage(evaluator, object, old, quotas))) return;
  for (const quota of quotas) {
    const counted = names(quota).filter((name) => evaluator.counts(name));
    const isKnown = counted.every((name) => own(quota.status?.used ?? {}, name) !== undefined);
    if (counted.length > 0 && !(isNew && isKnown)) yield keyOf(quota.metadata);
  }
}

function sameUsage(evaluator: Evaluator, object: KubeObject, old: KubeObject, quotas: readonly ResourceQuota[]): boolean {
  if (object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp) return false;
  const texts = (one: KubeObject): string[] =>
    [...evaluator.usage(one, 0)].map(([name, amount]) => `${name}=${String(amount)}`).sort();
  if (!deepEqual(texts(object), texts(old))) return false;
  return quotas.every((quota) =>
    scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object) === evaluator.matchesScope(scope, old)),
  );
}

function counting(resource: DiscoveredResource): WatchDefinition | undefined {
  if (!isCounted(resource)) return undefined;
  const evaluator = evaluatorOf(resource.group, resource.resource);
  return watch({
    resource,
    keys(object, old, cache) {
      const { namespace = '', name = '' } = object.metadata;
      const isNew = !old && cache.get(resource, namespace, name) !== undefined;
      return quotasOf({ evaluator, object, old, isNew }, cache.list<ResourceQuota>(resourceQuotas, namespace));
    },
  });
}

export const resourceQuotaController = (config: Pick<ControllersConfig, 'resourceQuotaSyncPeriodMs'>): ControllerDefinition =>
  defineController<QuotaView>({
    name: 'resourcequota-controller',
    aliases: ['resourcequota'],
    for: resourceQuotas,
    rights: [allow('list,watch', '*', '*'), allow('update', 'core', 'resourcequotas/status'), recordEvents],
    watches: [
      watch<ResourceQuota>({
        resource: resourceQuotas,
        keys: (quota, old) => (old && deepEqual(old.spec, quota.spec) ? [] : ownKey(quota)),
      }),
    ],
    discover: { everyMs: discoveryPeriodMs, watch: counting },
    periodic: {
      everyMs: config.resourceQuotaSyncPeriodMs,
      keys: (cache) => cache.list<ResourceQuota>(resourceQuotas).flatMap(ownKey),
    },
    view(key, cache) {
      const { namespace, name } = splitKey(key);
      const quota = cache.get<ResourceQuota>(resourceQuotas, namespace, name);
      if (!quota) return { quota, counted: [] };
      const counted = cache
        .discovered()
        .filter(isCounted)
        .map((resource) => ({ resource, evaluator: evaluatorOf(resource.group, resource.resource) }))
        .filter(({ evaluator }) => names(quota).some((one) => evaluator.counts(one)))
        .map(({ resource, evaluator }) => ({ evaluator, objects: cache.list(resource, namespace) }));
      return { quota, counted };
    },
    reconcile: reconcileQuota,
    concurrency: { flag: 'concurrent-resource-quota-syncs', default: 5 },
  });
