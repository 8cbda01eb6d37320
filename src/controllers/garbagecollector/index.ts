// Deletes what lost its owners, and keeps the promises of foreground and orphan deletion (pkg/controller/garbagecollector). It watches
// everything the apiserver serves; see docs/decisions/0001-loops-over-all-resources.md.
import type { KubeObject, OwnerReference } from '#apimachinery/meta';
import {
  type Cache,
  defineController,
  type DiscoveredResource,
  type Ref,
  refKey,
  watch,
  type WatchDefinition,
} from '#controller-runtime';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual, firstOfEach } from '#utils';
import { decide, type Graph } from './decide.ts';
import {
  dependentsOf,
  elsewhereIn,
  foregroundFinalizer,
  isCollected,
  isDeleting,
  itemAt,
  keyOfItem,
  objectAt,
  orphanFinalizer,
  ownerKey,
  ownerOf,
  waitsFor,
} from './graph.ts';

/** How often the server is asked what it serves. */
const discoveryPeriodMs = 30_000;

const ownersOf = ({ metadata }: KubeObject): readonly OwnerReference[] => metadata.ownerReferences ?? [];

const awaitsCollector = (object: KubeObject): boolean =>
  waitsFor(object, orphanFinalizer) || waitsFor(object, foregroundFinalizer);

/** Keys of owners to look at again because `object` no longer names or blocks them. */
function* releasedOwners(
  refs: readonly OwnerReference[],
  left: readonly OwnerReference[],
  object: KubeObject,
  cache: Cache,
): Iterable<string> {
  const byUid = firstOfEach(left, ({ uid }) => uid);
  for (const ref of refs) {
    const kept = byUid.get(ref.uid);
    if (kept && !(ref.blockOwnerDeletion && !kept.blockOwnerDeletion)) continue;
    const key = ownerKey(ref, object.metadata.namespace, cache);
    const owner = key === undefined ? undefined : itemAt(key, cache);
    if (key !== undefined && owner && awaitsCollector(owner.object)) yield key;
  }
}

/** Whether an owner may be missing, or waits for its dependents. */
function mayBeGarbage(object: KubeObject, cache: Cache): boolean {
  return ownersOf(object).some((ref) => {
    const key = ownerKey(ref, object.metadata.namespace, cache);
    const owner = key === undefined ? undefined : itemAt(key, cache);
    return owner?.object.metadata.uid !== ref.uid || waitsFor(owner.object, foregroundFinalizer);
  });
}

function* keysOf(resource: DiscoveredResource, object: KubeObject, old: KubeObject | undefined, cache: Cache): Iterable<string> {
  const uid = object.metadata.uid ?? '';
  if (cache.isGone(uid)) {
    for (const dependent of dependentsOf(uid, cache)) yield keyOfItem(dependent);
    yield* releasedOwners(ownersOf(object), [], object, cache);
    return;
  }
  const own = keyOfItem({ resource, object });
  if (awaitsCollector(object)) {
    yield own;
    if (!old || !isDeleting(old)) for (const dependent of dependentsOf(uid, cache)) yield keyOfItem(dependent);
  }
  if (old && deepEqual(ownersOf(old), ownersOf(object))) return;
  if (old) yield* releasedOwners(ownersOf(old), ownersOf(object), object, cache);
  if (!isDeleting(object) && mayBeGarbage(object, cache)) yield own;
}

const collected = (resource: DiscoveredResource): WatchDefinition | undefined =>
  isCollected(resource) ? watch({ resource, keys: (object, old, cache) => keysOf(resource, object, old, cache) }) : undefined;

export interface GraphView extends Graph {
  /** The item must be read from the server first. */
  askItem?: Ref;
}

export const garbageCollector = defineController<GraphView>({
  name: 'garbage-collector-controller',
  aliases: ['garbagecollector'],
  for: objectAt,
  serviceAccount: 'generic-garbage-collector',
  rights: [allow('delete,get,list,patch,update,watch', '*', '*'), recordEvents],
  watches: [],
  discover: { everyMs: discoveryPeriodMs, watch: collected },
  view(key, cache, context) {
    const cached = itemAt(key, cache);
    if (!cached) return { item: undefined, owners: [], dependents: [], fresh: false };
    const { metadata } = cached.object;
    const ask: Ref = { resource: cached.resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const fresh = context.lastFailure?.reason === 'Conflict';
    if (fresh && !context.live.has(refKey(ask))) return { item: cached, owners: [], dependents: [], fresh, askItem: ask };
    const object = fresh ? context.live.get(refKey(ask)) : cached.object;
    if (!object) return { item: undefined, owners: [], dependents: [], fresh };
    const item = { ...cached, object };
    const elsewhere = elsewhereIn(cache);
    const owners = ownersOf(object).map((ref) => ownerOf(ref, item, cache, context, elsewhere));
    const looksDown = awaitsCollector(object) || owners.some(({ state }) => state === 'waiting');
    return { item, owners, dependents: looksDown ? dependentsOf(object.metadata.uid ?? '', cache) : [], fresh };
  },
  reconcile: ({ askItem, ...graph }) => (askItem ? { effects: [], needsLive: [askItem] } : decide(graph)),
  concurrency: { flag: 'concurrent-gc-syncs', default: 20 },
});
