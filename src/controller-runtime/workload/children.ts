// Children of a workload: how the cache finds them, and how orphans are adopted and strangers released
// (pkg/controller controller_ref_manager.go).
import { type Claims, claims } from '#component-helpers/workload';
import type { Selector } from '#apimachinery/labels';
import { controllerOf, keyOf, type GroupVersionResource, type KubeObject, parseApiVersion } from '#apimachinery/meta';
import { deepEqual } from '#utils';
import { controllerKey } from '../cache.ts';
import { controllerRevisions } from './resources.ts';
import { type Cache, controllerRef, type Effect, type Ref, refKey, type WatchDefinition } from '../types.ts';

const orphanIndex = 'orphanNamespace';
const orphanIndexers = {
  [orphanIndex]: (object: KubeObject) => (controllerOf(object.metadata) ? [] : [object.metadata.namespace ?? '']),
};

/** A kind that may own what is watched. */
export interface OwnerKind<Owner extends KubeObject> {
  kind: string;
  apiVersion: string;
  resource: GroupVersionResource;
  selector(owner: Owner): Selector;
}

/** Watches children: a child's controller is looked at, and for an orphan every owner that would take it. */
export function watchChildren<Owner extends KubeObject>(
  resource: GroupVersionResource,
  owner: OwnerKind<Owner>,
): WatchDefinition {
  const keysOfController = controllerKey(owner.kind);
  return {
    resource,
    indexers: orphanIndexers,
    keys(object, old, cache) {
      const keys = keysOfController(object, old);
      if (controllerOf(object.metadata) || (old && !becameOrphan(object, old))) return keys;
      const takers = cache
        .list<Owner>(owner.resource, object.metadata.namespace)
        .filter((one) => owner.selector(one).matches(object.metadata.labels));
      return [...keys, ...takers.map(({ metadata }) => keyOf(metadata))];
    },
  };
}

/** Watches the history of a workload: a revision that comes with its controller wakes nobody, for the controller itself has made it. */
export function watchRevisions<Owner extends KubeObject>(owner: OwnerKind<Owner>): WatchDefinition {
  const children = watchChildren(controllerRevisions, owner);
  return {
    ...children,
    keys(object, old, cache) {
      const { namespace = '', name = '', uid } = object.metadata;
      const isNew = !old && cache.get(controllerRevisions, namespace, name)?.metadata.uid === uid;
      return isNew && controllerOf(object.metadata) ? [] : children.keys?.(object, old, cache);
    },
  };
}

const becameOrphan = (object: KubeObject, old: KubeObject): boolean =>
  controllerOf(old.metadata) !== undefined || !deepEqual(object.metadata.labels, old.metadata.labels);

/** All that `owner` owns (in any way) and the orphans of its namespace. */
export const childrenOf = <T extends KubeObject>(cache: Cache, resource: GroupVersionResource, owner: KubeObject): T[] => [
  ...cache.ownedBy<T>(resource, owner.metadata.uid ?? ''),
  ...cache.byIndex<T>(resource, orphanIndex, owner.metadata.namespace ?? ''),
];

export interface Claimed<T> {
  /** The owner's children, those about to be adopted among them. */
  children: T[];
  effects: Effect[];
  /** Not empty: the owner must first be read past the cache (it may be gone, and then must adopt nothing). */
  needsLive: Ref[];
}

interface ClaimInput<Owner extends KubeObject, T extends KubeObject> {
  owner: Owner;
  kind: OwnerKind<Owner>;
  children: readonly T[];
  resource: GroupVersionResource;
  live: ReadonlyMap<string, KubeObject | undefined>;
  /** Added to adopted children. */
  finalizer?: string;
  /** Default: by the owner's selector. */
  selects?(child: T): boolean;
}

/** Takes the orphans the owner selects, lets go of children it selects no longer. */
export function claimChildren<Owner extends KubeObject, T extends KubeObject>(input: ClaimInput<Owner, T>): Claimed<T> {
  const { owner, kind, children, resource, live, finalizer } = input;
  const selector = kind.selector(owner);
  const found = claims(owner, children, input.selects ?? ((child) => selector.matches(child.metadata.labels)));
  const ownerRef: Ref = { resource: kind.resource, namespace: owner.metadata.namespace ?? '', name: owner.metadata.name ?? '' };
  if (found.adoptable.length > 0 && !live.has(refKey(ownerRef)))
    return { children: found.owned, effects: [], needsLive: [ownerRef] };
  const adopted = mayAdopt(owner, live.get(refKey(ownerRef))) ? found.adoptable : [];
  return {
    children: [...found.owned, ...adopted],
    effects: [
      ...adopted.map((child) => adopt(child, resource, owner, kind, finalizer)),
      ...releases(found, resource, owner, finalizer),
    ],
    needsLive: [],
  };
}

const mayAdopt = (owner: KubeObject, live: KubeObject | undefined): boolean =>
  live !== undefined && live.metadata.uid === owner.metadata.uid && live.metadata.deletionTimestamp === undefined;

const patchOf = (child: KubeObject, resource: GroupVersionResource, metadata: Record<string, unknown>): Effect => ({
  op: 'patch',
  ref: { resource, namespace: child.metadata.namespace ?? '', name: child.metadata.name ?? '' },
  type: 'application/strategic-merge-patch+json',
  body: { metadata: { uid: child.metadata.uid, ...metadata } },
});

function adopt<Owner extends KubeObject>(
  child: KubeObject,
  resource: GroupVersionResource,
  owner: Owner,
  { apiVersion, kind }: OwnerKind<Owner>,
  finalizer: string | undefined,
): Effect {
  const { group, version } = parseApiVersion(apiVersion);
  return patchOf(child, resource, {
    ownerReferences: [controllerRef(owner, group, version, kind)],
    ...(finalizer && { finalizers: [finalizer] }),
  });
}

const releases = <T extends KubeObject>(
  { releasable }: Claims<T>,
  resource: GroupVersionResource,
  owner: KubeObject,
  finalizer: string | undefined,
): Effect[] =>
  releasable.map((child) =>
    patchOf(child, resource, {
      ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
      ...(finalizer && { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
    }),
  );
