// Read your own writes: after a key's plan wrote objects, the key is held back until the controller's cache has seen those writes, so
// that no loop acts twice on a stale view. This replaces upstream's per-controller expectations (the idea of KEP-5647).
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { InformerCache } from './cache.ts';

type Write =
  | { resource: GroupVersionResource; version: number }
  | { resource: GroupVersionResource; namespace: string; name: string; uid: string };

export class OwnWrites {
  readonly #cache: InformerCache;
  readonly #pending = new Map<string, Write[]>();

  constructor(cache: InformerCache) {
    this.#cache = cache;
  }
  /** A create, update or patch answered with `object`. */
  wrote(key: string, resource: GroupVersionResource, object: KubeObject | undefined): void {
    const version = Number(object?.metadata?.resourceVersion);
    if (this.#cache.watched(resource) && Number.isFinite(version) && version > 0) this.#add(key, { resource, version });
  }
  /** A delete was accepted. */
  deleted(key: string, resource: GroupVersionResource, namespace: string, name: string): void {
    const uid = this.#cache.watched(resource)?.lister.get(namespace, name)?.metadata.uid;
    if (uid) this.#add(key, { resource, namespace, name, uid });
  }
  #add(key: string, write: Write): void {
    const writes = this.#pending.get(key);
    if (writes) writes.push(write);
    else this.#pending.set(key, [write]);
  }
  /** Whether the cache has caught up with all writes of `key`. */
  seen(key: string): boolean {
    const writes = this.#pending.get(key);
    if (!writes) return true;
    const missing = writes.filter((write) => !this.#seen(write));
    if (missing.length === 0) this.#pending.delete(key);
    else this.#pending.set(key, missing);
    return missing.length === 0;
  }
  /** Stops waiting for `key`. */
  forget(key: string): void {
    this.#pending.delete(key);
  }
  #seen(write: Write): boolean {
    const { lister } = this.#cache.informer(write.resource);
    if ('version' in write) return Number(lister.resourceVersion()) >= write.version;
    const current = lister.get(write.namespace, write.name);
    return current?.metadata.uid !== write.uid || current.metadata.deletionTimestamp !== undefined;
  }
}
