// Read your own writes: after a key's plan wrote objects, the key is held back until the controller's cache has seen those writes, so
// that no loop acts twice on a stale view. This replaces upstream's per-controller expectations (the idea of KEP-5647).
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { type InformerCache, resourceId } from './cache.ts';

interface Deletion {
  resource: GroupVersionResource;
  namespace: string;
  name: string;
  uid: string;
}

interface Pending {
  /** The newest version written, by resource: a cache that has it has the older ones too. */
  versions: Map<string, { resource: GroupVersionResource; version: number }>;
  deletions: Deletion[];
}

export class OwnWrites {
  readonly #cache: InformerCache;
  readonly #pending = new Map<string, Pending>();

  constructor(cache: InformerCache) {
    this.#cache = cache;
  }
  /** A create, update or patch answered with `object`. */
  wrote(key: string, resource: GroupVersionResource, object: KubeObject | undefined): void {
    const version = Number(object?.metadata?.resourceVersion);
    if (!this.#cache.watched(resource) || !(version > 0)) return;
    const { versions } = this.#of(key);
    const id = resourceId(resource);
    if (version > (versions.get(id)?.version ?? 0)) versions.set(id, { resource, version });
  }
  /** The uid of an object the cache knows; to be asked before it is deleted. */
  uidOf(resource: GroupVersionResource, namespace: string, name: string): string | undefined {
    return this.#cache.watched(resource)?.lister.get(namespace, name)?.metadata.uid;
  }
  /** A delete of the object with this uid was accepted. */
  deleted(key: string, resource: GroupVersionResource, namespace: string, name: string, uid: string): void {
    this.#of(key).deletions.push({ resource, namespace, name, uid });
  }
  #of(key: string): Pending {
    const known = this.#pending.get(key);
    if (known) return known;
    const pending: Pending = { versions: new Map(), deletions: [] };
    this.#pending.set(key, pending);
    return pending;
  }
  /** Whether the cache has caught up with all writes of `key`. */
  seen(key: string): boolean {
    const pending = this.#pending.get(key);
    if (!pending) return true;
    for (const [id, { resource, version }] of pending.versions)
      if (Number(this.#cache.informer(resource).lister.resourceVersion()) >= version) pending.versions.delete(id);
    pending.deletions = pending.deletions.filter((deletion) => !this.#isGone(deletion));
    if (pending.versions.size + pending.deletions.length > 0) return false;
    this.#pending.delete(key);
    return true;
  }
  /** Stops waiting for `key`. */
  forget(key: string): void {
    this.#pending.delete(key);
  }
  #isGone({ resource, namespace, name, uid }: Deletion): boolean {
    const current = this.#cache.informer(resource).lister.get(namespace, name);
    return current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined;
  }
}
