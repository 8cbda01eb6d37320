// The read side of a controller: its informers as one `Cache`.
import { controllerOf, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import type { Informer, InformerFactory, Indexers } from '#client';
import type { DiscoveredResource } from './discovery.ts';
import { goneMax } from './limits.ts';
import type { Cache, WatchDefinition } from './types.ts';

const ownerIndex = 'ownerUid';
const ownerIndexers: Indexers<KubeObject> = {
  [ownerIndex]: (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid),
};

export const resourceId = ({ group, resource }: GroupVersionResource): string => `${resource}.${group}`;

/** Informers by resource; the first watch of a resource decides its selector. */
export class InformerCache implements Cache {
  readonly #factory: InformerFactory;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #gone = new Set<string>();
  #discovered: readonly DiscoveredResource[] = [];

  constructor(factory: InformerFactory, watches: readonly WatchDefinition[]) {
    this.#factory = factory;
    for (const definition of watches) this.add(definition);
  }
  add({ resource, indexers, fieldSelector }: WatchDefinition): void {
    const id = resourceId(resource);
    const informer =
      this.#informers.get(id) ?? this.#factory.informer<KubeObject>(resource, fieldSelector ? { fieldSelector } : {});
    informer.addIndexers({ ...ownerIndexers, ...indexers });
    this.#informers.set(id, informer);
  }
  discovered(): readonly DiscoveredResource[] {
    return this.#discovered;
  }
  setDiscovered(resources: readonly DiscoveredResource[]): void {
    this.#discovered = resources;
  }
  isGone(uid: string): boolean {
    return this.#gone.has(uid);
  }
  /** Notes that an object is gone; its uid never comes back. */
  noteGone(uid: string): void {
    this.#gone.add(uid);
    if (this.#gone.size <= goneMax) return;
    for (const oldest of this.#gone) {
      this.#gone.delete(oldest);
      return;
    }
  }
  informer(resource: GroupVersionResource): Informer<KubeObject> {
    const informer = this.#informers.get(resourceId(resource));
    if (!informer) throw new Error(`${resourceId(resource)} is not among the controller's watches`);
    return informer;
  }
  /** The informer, or undefined for a resource the controller does not watch. */
  watched(resource: GroupVersionResource): Informer<KubeObject> | undefined {
    return this.#informers.get(resourceId(resource));
  }
  informers(): Informer<KubeObject>[] {
    return [...this.#informers.values()];
  }
  get<T extends KubeObject>(resource: GroupVersionResource, namespace: string, name: string): T | undefined {
    return this.informer(resource).lister.get(namespace, name) as T | undefined;
  }
  list<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): T[] {
    return this.informer(resource).lister.list(namespace) as T[];
  }
  byIndex<T extends KubeObject>(resource: GroupVersionResource, index: string, value: string): T[] {
    return this.informer(resource).lister.byIndex(index, value) as T[];
  }
  ownedBy<T extends KubeObject>(resource: GroupVersionResource, uid: string): T[] {
    return this.byIndex<T>(resource, ownerIndex, uid);
  }
}

/** The key function of a watch on a loop's own kind: an event is about the object itself. */
export const ownKey = (object: KubeObject): string[] => [
  object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : (object.metadata.name ?? ''),
];

/** Key function for children: the controlling owner of this kind, before and after the change. */
export const controllerKey =
  (kind: string) =>
  (object: KubeObject, old?: KubeObject): string[] => {
    const keys = new Set<string>();
    for (const child of [object, old]) {
      const owner = child && controllerOf(child.metadata);
      if (owner?.kind === kind) keys.add(`${child?.metadata.namespace}/${owner.name}`);
    }
    return [...keys];
  };
