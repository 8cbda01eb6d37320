// What is to become of one object, given its owners and dependents
// (https://kubernetes.io/docs/concepts/architecture/garbage-collection/, pkg/controller/garbagecollector). Pure.
import { apiVersionOf, type OwnerReference } from '#apimachinery/meta';
import type { DeleteOptions } from '#apimachinery/transport';
import type { Effect, Plan } from '#controller-runtime';
import { mergePatch, refOf, withoutFinalizer } from '#controller-runtime/platform';
import { quote } from '#utils';
import { foregroundFinalizer, type Item, isDeleting, orphanFinalizer, type Owner, waitsFor } from './graph.ts';

/** How long until an owner of a kind that is not served, or not seen yet, is looked for again. */
export const lookAgainMs = 30_000;

export interface Graph {
  item: Item | undefined;
  owners: readonly Owner[];
  /** Only read where they matter. */
  dependents: readonly Item[];
  /** The item was just read from the server, after a conflict: only its uid is made a condition of the delete. */
  fresh: boolean;
}

/** Decides what becomes of an object: it stays, loses references to owners, or is deleted, alone or with its dependents. */
export function decide({ item, owners, dependents, fresh }: Graph): Plan {
  if (!item) return { effects: [] };
  if (waitsFor(item.object, orphanFinalizer)) return orphan(item, dependents);
  if (waitsFor(item.object, foregroundFinalizer)) return foreground(item, dependents);
  if (isDeleting(item.object) || owners.length === 0) return { effects: [] };
  const needsLive = owners.flatMap(({ ask }) => ask ?? []);
  if (needsLive.length > 0) return { effects: [], needsLive };
  const complaints = owners.filter(({ elsewhere }) => elsewhere).map(({ ref }) => invalidNamespace(item, ref));
  if (owners.some(({ state }) => state === 'misplaced'))
    return { effects: complaints, because: 'A cluster-scoped object cannot have a namespaced owner: the reference is ignored.' };
  if (owners.some(({ state }) => state === 'unknown'))
    return { effects: complaints, requeueAfterMs: lookAgainMs, because: 'The kind of an owner is not served here (yet).' };
  const plan = collect(item, owners, dependents, fresh);
  return {
    ...plan,
    effects: [...complaints, ...plan.effects],
    ...(owners.some(({ unseen }) => unseen) && { requeueAfterMs: lookAgainMs }),
  };
}

/** The owner was deleted with `--cascade=orphan`: dependents lose the reference and stay. */
function orphan(item: Item, dependents: readonly Item[]): Plan {
  const uid = item.object.metadata.uid ?? '';
  const patches = dependents.map((one) => withoutOwners(one, new Set([uid])));
  return {
    effects: [
      ...(patches.length > 0 ? [{ op: 'parallel' as const, effects: patches }] : []),
      withoutFinalizer(item.resource, item.object, orphanFinalizer),
    ],
    because: `It is being deleted but its ${dependents.length} dependents are to stay: they are made independent first.`,
  };
}

/** The owner was deleted with `--cascade=foreground`: it goes when no dependent blocks it. */
function foreground(item: Item, dependents: readonly Item[]): Plan {
  const uid = item.object.metadata.uid;
  const blocking = dependents.filter(({ object }) =>
    object.metadata.ownerReferences?.some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true),
  );
  if (blocking.length > 0) return { effects: [], because: `${blocking.length} dependents must be gone before it can go.` };
  return {
    effects: [withoutFinalizer(item.resource, item.object, foregroundFinalizer)],
    because: 'No dependent blocks its deletion any more.',
  };
}

function collect(item: Item, owners: readonly Owner[], dependents: readonly Item[], fresh: boolean): Plan {
  const solid = owners.filter(({ state }) => state === 'solid');
  const waiting = owners.filter(({ state }) => state === 'waiting');
  const gone = owners.filter(({ state }) => state !== 'solid');
  if (solid.length > 0) {
    if (gone.length === 0) return { effects: [] };
    return {
      effects: [withoutOwners(item, new Set(gone.map(({ ref }) => ref.uid)))],
      because: `Its owner ${solid[0]?.ref.name} remains; references to owners that go are removed.`,
    };
  }
  const names = owners.map(({ ref }) => `${ref.kind} ${ref.name}`).join(' and ');
  if (waiting.length > 0 && dependents.length > 0) {
    // A ring of owners that all wait for each other is broken by letting this one no longer block.
    const ring = dependents.some(({ object }) => waitsFor(object, foregroundFinalizer));
    return {
      effects: [...(ring ? [unblocked(item)] : []), remove(item, 'Foreground', fresh || ring)],
      because: `Its owner ${names} waits for its dependents to go, and so does it for its own.`,
    };
  }
  return { effects: [remove(item, policyOf(item), fresh)], because: `Its owner ${names} is gone, so it goes too.` };
}

function policyOf({ object }: Item): DeleteOptions['propagationPolicy'] {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

const remove = ({ resource, object }: Item, propagationPolicy: DeleteOptions['propagationPolicy'], uidOnly: boolean): Effect => {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = { ...(uid && { uid }), ...(!uidOnly && resourceVersion && { resourceVersion }) };
  return { op: 'delete', ref: refOf(resource, object), options: { preconditions, propagationPolicy } };
};

const withOwners = ({ resource, object }: Item, ownerReferences: OwnerReference[]): Effect => {
  const { uid, resourceVersion } = object.metadata;
  return mergePatch(resource, object, { metadata: { uid, resourceVersion, ownerReferences } });
};

const withoutOwners = (item: Item, uids: ReadonlySet<string>): Effect =>
  withOwners(
    item,
    (item.object.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid)),
  );

const unblocked = (item: Item): Effect =>
  withOwners(
    item,
    (item.object.metadata.ownerReferences ?? []).map((ref) =>
      ref.blockOwnerDeletion ? { ...ref, blockOwnerDeletion: false } : ref,
    ),
  );

function invalidNamespace({ resource, object }: Item, { apiVersion, kind, name, uid }: OwnerReference): Effect {
  const namespace = object.metadata.namespace ?? '';
  return {
    op: 'event',
    regarding: { ...object, apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist in namespace ${quote(namespace)}`,
  };
}
