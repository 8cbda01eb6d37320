// The cluster as a map: the in-memory implementation of `ReadOnlyCluster` and `ClusterWriter`, for tests of what reads and writes it.
import { alreadyExists, notFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { mergePatch } from '#apimachinery/patch';
import type { ClusterWriter } from '../writer.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';

type Handler = (now: KubeObject | undefined, before: KubeObject | undefined) => void;

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** Objects by `group/resource`, then `namespace/name`. Names and uids are filled in; nothing is defaulted or validated. */
export class MemoryCluster implements ReadOnlyCluster, ClusterWriter {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #handlers = new Map<string, Set<Handler>>();
  #revision = 0;

  #of(group: string, resource: string): Map<string, KubeObject> {
    const key = `${group}/${resource}`;
    const known = this.#objects.get(key);
    if (known) return known;
    const fresh = new Map<string, KubeObject>();
    this.#objects.set(key, fresh);
    return fresh;
  }

  #commit<T extends KubeObject>(group: string, resource: string, key: string, now: T | undefined): void {
    const objects = this.#of(group, resource);
    const before = objects.get(key);
    if (now) objects.set(key, now);
    else objects.delete(key);
    for (const handler of this.#handlers.get(`${group}/${resource}`) ?? []) handler(now, before);
  }

  /** Stores the object whatever was there. */
  put<T extends KubeObject>(group: string, resource: string, object: T): T {
    const { namespace = '', name = '' } = object.metadata;
    const before = this.#of(group, resource).get(`${namespace}/${name}`);
    this.#revision += 1;
    const stored = freeze({
      ...object,
      metadata: {
        ...object.metadata,
        uid: object.metadata.uid ?? before?.metadata.uid ?? `uid-${this.#revision}`,
        resourceVersion: String(this.#revision),
      },
    });
    this.#commit(group, resource, `${namespace}/${name}`, stored);
    return stored;
  }

  get<T extends KubeObject>(group: string, resource: string, namespace: string, name: string): T | undefined {
    return this.#of(group, resource).get(`${namespace}/${name}`) as T | undefined;
  }

  list<T extends KubeObject>(group: string, resource: string, namespace?: string): readonly T[] {
    const all = [...this.#of(group, resource).values()] as T[];
    return namespace ? all.filter((object) => object.metadata.namespace === namespace) : all;
  }

  onChange<T extends KubeObject>(
    group: string,
    resource: string,
    handler: (now: T | undefined, before: T | undefined) => void,
  ): () => void {
    const key = `${group}/${resource}`;
    const handlers = this.#handlers.get(key) ?? new Set();
    this.#handlers.set(key, handlers);
    handlers.add(handler as Handler);
    return () => handlers.delete(handler as Handler);
  }

  async create<T extends KubeObject>(group: string, resource: string, object: T, options: { dryRun?: boolean } = {}): Promise<T> {
    const { namespace = '', name = '' } = object.metadata;
    if (this.get(group, resource, namespace, name)) throw alreadyExists({ group, resource }, name);
    return options.dryRun ? object : this.put(group, resource, object);
  }

  async update<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    change: (current: T) => T | undefined,
    options: { dryRun?: boolean } = {},
  ): Promise<T> {
    const current = this.get<T>(group, resource, namespace, name);
    if (!current) throw notFound({ group, resource }, name);
    const changed = change(current);
    if (!changed) return current;
    return options.dryRun ? changed : this.put(group, resource, changed);
  }

  /** Fields of `config` take the place of what is there, lists as a whole. */
  async apply<T extends KubeObject>(group: string, resource: string, config: Partial<T> & KubeObject): Promise<T> {
    const { namespace = '', name = '' } = config.metadata;
    return this.update<T>(group, resource, namespace, name, (current) => mergePatch(current, config) as T);
  }

  async delete<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    options: { dryRun?: boolean } = {},
  ): Promise<T> {
    const current = this.get<T>(group, resource, namespace, name);
    if (!current) throw notFound({ group, resource }, name);
    if (!options.dryRun) this.#commit(group, resource, `${namespace}/${name}`, undefined);
    return current;
  }
}
