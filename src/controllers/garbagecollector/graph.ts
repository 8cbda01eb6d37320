// The graph of owners and dependents, read from the caches of all resources. Upstream keeps a graph by uid with virtual nodes for owners
// it has not seen; here an owner is looked up where its reference says it is, and asked for past the cache when it is not there.
import { apiVersionOf, type KubeObject, type OwnerReference, splitKey } from '#apimachinery/meta';
import {
  type Cache,
  type DiscoveredResource,
  type ObjectId,
  type Ref,
  refKey,
  supports,
  type ViewContext,
} from '#controller-runtime';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** An object and the resource it is of. */
export interface Item {
  resource: DiscoveredResource;
  object: KubeObject;
}

/**
 * What became of an owner. `solid`: it exists. `waiting`: it exists, is being deleted, and waits for its dependents. `absent`: nothing with
 * that uid is where the reference says. `misplaced`: a cluster-scoped object names a namespaced owner. `unknown`: no such kind is served.
 * `ask`: only the server knows.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'misplaced' | 'unknown' | 'ask';

export interface Owner {
  ref: OwnerReference;
  state: OwnerState;
  /** Where to ask. */
  ask?: Ref;
  /** It exists, but the cache has not seen it yet: its deletion might go unnoticed. */
  unseen?: boolean;
  /** An object with that uid lives in another namespace. */
  elsewhere?: boolean;
}

const ignored = (resource: DiscoveredResource): boolean =>
  resource.resource === 'events' && (resource.group === '' || resource.group === 'events.k8s.io');

export const isCollected = (resource: DiscoveredResource): boolean =>
  resource.preferred && supports(resource, 'delete', 'list', 'watch') && !ignored(resource);

const collectedOf = new WeakMap<readonly DiscoveredResource[], DiscoveredResource[]>();

/** What is watched, in the order of discovery. */
function collected(discovered: readonly DiscoveredResource[]): readonly DiscoveredResource[] {
  const known = collectedOf.get(discovered) ?? discovered.filter(isCollected);
  collectedOf.set(discovered, known);
  return known;
}

const byKind = new WeakMap<readonly DiscoveredResource[], Map<string, DiscoveredResource>>();

/** The resource of a kind, as discovery says. */
export function resourceOf(
  discovered: readonly DiscoveredResource[],
  apiVersion: string,
  kind: string,
): DiscoveredResource | undefined {
  let map = byKind.get(discovered);
  if (!map) {
    map = new Map(discovered.map((one) => [`${apiVersionOf(one.group, one.version)}/${one.kind}`, one]));
    byKind.set(discovered, map);
  }
  return map.get(`${apiVersion}/${kind}`);
}

export const itemKey = (resource: { group: string; resource: string }, namespace: string | undefined, name: string): string =>
  `${resource.resource}${resource.group === '' ? '' : `.${resource.group}`}/${namespace ? `${namespace}/` : ''}${name}`;

export const keyOfItem = ({ resource, object: { metadata } }: Item): string =>
  itemKey(resource, metadata.namespace, metadata.name ?? '');

/** The key of an owner; undefined for a kind that is not served. */
export function ownerKey(ref: OwnerReference, namespace: string | undefined, cache: Cache): string | undefined {
  const resource = resourceOf(cache.discovered(), ref.apiVersion, ref.kind);
  return resource && itemKey(resource, resource.namespaced ? namespace : '', ref.name);
}

/** The object that a key names. */
export function objectAt(key: string): ObjectId {
  const slash = key.indexOf('/');
  const id = key.slice(0, slash);
  const dot = id.indexOf('.');
  const [resource, group] = dot < 0 ? [id, ''] : [id.slice(0, dot), id.slice(dot + 1)];
  return { group, resource, key: key.slice(slash + 1) };
}

export function itemAt(key: string, cache: Cache): Item | undefined {
  const at = objectAt(key);
  const resource = collected(cache.discovered()).find((one) => one.resource === at.resource && one.group === at.group);
  if (!resource) return undefined;
  const { namespace, name } = splitKey(at.key);
  const object = cache.get(resource, namespace, name);
  return object && { resource, object };
}

/** All objects that name `uid` among their owners. */
export const dependentsOf = (uid: string, cache: Cache): Item[] =>
  collected(cache.discovered()).flatMap((resource) => cache.ownedBy(resource, uid).map((object) => ({ resource, object })));

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
export const waitsFor = (object: KubeObject, finalizer: string): boolean =>
  isDeleting(object) && (object.metadata.finalizers ?? []).includes(finalizer);

const stateOf = (owner: KubeObject): OwnerState => (waitsFor(owner, foregroundFinalizer) ? 'waiting' : 'solid');

export function ownerOf(ref: OwnerReference, item: Item, cache: Cache, { live }: ViewContext, elsewhere: Elsewhere): Owner {
  const resource = resourceOf(cache.discovered(), ref.apiVersion, ref.kind);
  if (!resource) return { ref, state: cache.isGone(ref.uid) ? 'absent' : 'unknown' };
  const { namespace = '' } = item.object.metadata;
  if (resource.namespaced && !item.resource.namespaced) return { ref, state: 'misplaced', elsewhere: elsewhere(ref, resource) };
  if (cache.isGone(ref.uid)) return { ref, state: 'absent' };
  const ask: Ref = { resource, namespace: resource.namespaced ? namespace : '', name: ref.name };
  const cached = isCollected(resource) ? cache.get(resource, ask.namespace, ask.name) : undefined;
  if (cached?.metadata.uid === ref.uid) return { ref, state: stateOf(cached) };
  if (!live.has(refKey(ask))) return { ref, state: 'ask', ask };
  const found = live.get(refKey(ask));
  if (found?.metadata.uid === ref.uid) return { ref, state: stateOf(found), unseen: isCollected(resource) };
  return { ref, state: 'absent', elsewhere: elsewhere(ref, resource) };
}

type Elsewhere = (ref: OwnerReference, resource: DiscoveredResource) => boolean;

/** Tells whether an owner that is not where it should be is in some namespace. A resource is gone through once, however many owners are looked for. */
export function elsewhereIn(cache: Cache): Elsewhere {
  const known = new Map<DiscoveredResource, Set<string>>();
  const uidsOf = (resource: DiscoveredResource): Set<string> => {
    const found = known.get(resource) ?? new Set(cache.list(resource).map(({ metadata }) => metadata.uid ?? ''));
    known.set(resource, found);
    return found;
  };
  return ({ uid }, resource) => resource.namespaced && isCollected(resource) && uidsOf(resource).has(uid);
}
