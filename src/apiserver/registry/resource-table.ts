// The table of served resources. It can change while the server runs (custom resources come and go): readers look up per request, and those
// who keep something made from it (discovery, OpenAPI) watch its generation.
import type { ServedResource } from './generic/types.ts';
import type { PublishedType, VirtualGroup } from './virtual-group.ts';

export interface ServedGroup {
  group: string;
  /** Preferred first. */
  versions: string[];
}

/** A subresource or resource that discovery lists beside the stored ones. */
export interface DiscoveredResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: { group: string; version: string; kind: string };
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  storageVersionHash?: string;
}

const keyOf = (group: string, version: string, resource: string): string => `${group}/${version}/${resource}`;

export class ResourceTable {
  readonly #resources = new Map<string, ServedResource>();
  readonly #discovered = new Map<string, DiscoveredResource[]>();
  readonly #published: (PublishedType & { group: string; version: string })[] = [];
  #groups: ServedGroup[] = [];
  #byStorage: Map<ServedResource['storage'], readonly ServedResource[]> | undefined;
  #handlers: (() => void)[] = [];
  /** Grows with every change. */
  generation = 0;

  get groups(): readonly ServedGroup[] {
    return this.#groups;
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#resources.get(keyOf(group, version, resource));
  }

  /** Any served version of a resource; the first that was added. */
  findAny(group: string, resource: string): ServedResource | undefined {
    for (const { group: name, versions } of this.#groups) {
      if (name !== group) continue;
      for (const version of versions) {
        const found = this.find(group, version, resource);
        if (found) return found;
      }
    }
    return undefined;
  }

  /** All served resources over the storage of one, itself among them: versions, and groups that share it. */
  siblings({ storage }: ServedResource): readonly ServedResource[] {
    if (!this.#byStorage) {
      this.#byStorage = new Map();
      for (const resource of this.#resources.values())
        this.#byStorage.set(resource.storage, [...(this.#byStorage.get(resource.storage) ?? []), resource]);
    }
    return this.#byStorage.get(storage) ?? [];
  }

  all(): ServedResource[] {
    return [...this.#resources.values()];
  }

  /** What discovery shows of a group version; undefined: not served. */
  discovered(group: string, version: string): readonly DiscoveredResource[] | undefined {
    return this.#discovered.get(`${group}/${version}`);
  }

  /** Serves a group version that has no storage. */
  addVirtual({ group, version, resources, types }: VirtualGroup): void {
    const versions = this.#groups.find((one) => one.group === group)?.versions ?? [];
    this.#groups = [...this.#groups.filter((one) => one.group !== group), { group, versions: [...versions, version] }];
    this.#published.push(...types.map((type) => ({ ...type, group, version })));
    this.setDiscovered(group, version, [...resources]);
  }

  /** Types in the OpenAPI documents that are neither built-in nor of custom resources. */
  get published(): readonly (PublishedType & { group: string; version: string })[] {
    return this.#published;
  }

  setGroups(groups: ServedGroup[]): void {
    this.#groups = groups;
    this.#changed();
  }

  setDiscovered(group: string, version: string, resources: DiscoveredResource[]): void {
    this.#discovered.set(`${group}/${version}`, resources);
    this.#changed();
  }

  removeVersion(group: string, version: string): void {
    this.#discovered.delete(`${group}/${version}`);
    this.#changed();
  }

  add(resource: ServedResource): void {
    this.#resources.set(keyOf(resource.group, resource.version, resource.resource), resource);
    this.#changed();
  }

  remove(group: string, version: string, resource: string): void {
    this.#resources.delete(keyOf(group, version, resource));
    this.#changed();
  }

  onChange(handler: () => void): () => void {
    this.#handlers.push(handler);
    return () => {
      this.#handlers = this.#handlers.filter((known) => known !== handler);
    };
  }

  #changed(): void {
    this.generation++;
    this.#byStorage = undefined;
    for (const handler of this.#handlers) handler();
  }
}
