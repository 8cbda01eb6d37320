// Reads and writes of the server itself: what authorizers, admission plugins, special endpoints and start hooks work with.
import { notFound } from '#apimachinery/errors';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { ClusterWriter, InternalWriteOptions, ReadOnlyCluster } from './contracts.ts';
import { neverCancelled } from './request/cancellation.ts';
import { create } from './registry/generic/create.ts';
import { remove } from './registry/generic/delete.ts';
import type { DeleteOptions } from './registry/generic/delete-options.ts';
import { recordUpdate } from './registry/generic/put.ts';
import { apiVersionText, type Randomness, type RequestContext, type ServedResource } from './registry/generic/types.ts';
import { update } from './registry/generic/update.ts';
import { deepCopy } from './registry/generic/values.ts';
import type { ResourceTable } from './resources.ts';
import type { StoredObject } from './storage/stored-object.ts';

/** The storage version of a resource, as every internal reader sees it. */
const storedAs = (table: ResourceTable, group: string, resource: string): ServedResource | undefined => {
  const any = table.findAny(group, resource);
  return any && (table.find(any.storageGroup, any.storageVersion, resource) ?? any);
};

export function createCluster(table: ResourceTable): ReadOnlyCluster {
  const cacheOf = (group: string, resource: string) => storedAs(table, group, resource)?.storage;
  const objectOf = <T>(stored: StoredObject | undefined): T | undefined => stored?.object as T | undefined;
  return {
    get: (group, resource, namespace, name) => {
      const storage = cacheOf(group, resource);
      return storage && objectOf(storage.read(storage.keyOf(namespace, name)));
    },
    list: (group, resource, namespace) => {
      const storage = cacheOf(group, resource);
      if (!storage) return [];
      const prefix = namespace ? `${storage.prefix}${namespace}/` : storage.prefix;
      return storage.cache.entries.values(prefix).map((stored) => stored.object) as never[];
    },
    onChange(group, resource, handler) {
      const storage = cacheOf(group, resource);
      if (!storage) return () => {};
      return storage.cache.onChange((now, before) => handler(objectOf(now), objectOf(before)));
    },
  };
}

const nobody = { admit() {}, validate() {} };
const self = { name: 'system:apiserver', groups: ['system:masters'] };

export function createWriter(table: ResourceTable, now: () => number, random: Randomness): ClusterWriter {
  const contextOf = (
    group: string,
    name: string,
    at: { namespace: string; name: string; subresource?: string },
    options: InternalWriteOptions & { unchecked?: boolean } = {},
  ): RequestContext => {
    const resource = storedAs(table, group, name);
    if (!resource) throw notFound({ group, resource: name }, at.name);
    return {
      user: self,
      resource,
      subresource: at.subresource ?? '',
      namespace: resource.namespaced ? at.namespace : '',
      name: at.name,
      dryRun: options.dryRun ?? false,
      manager: options.manager ?? '',
      ...(options.unchecked && { unchecked: true }),
      now: now(),
      options: {},
      admission: nobody,
      cancellation: neverCancelled(),
      warn() {},
      random,
    };
  };
  return {
    async create<T extends KubeObject>(group: string, resource: string, object: T, options?: InternalWriteOptions): Promise<T> {
      const { namespace = '', name = '' } = object.metadata;
      const context = contextOf(group, resource, { namespace, name }, options);
      const draft = deepCopy(object) as unknown as UnknownObject;
      draft.apiVersion = apiVersionText(context.resource);
      draft.kind = context.resource.kind;
      context.resource.setDefaults(draft);
      return (await create(context, draft)).object as unknown as T;
    },
    async update<T extends KubeObject>(
      group: string,
      resource: string,
      namespace: string,
      name: string,
      change: (current: T) => T | undefined,
      options?: InternalWriteOptions & { subresource?: string; unchecked?: boolean },
    ): Promise<T> {
      const subresource = options?.subresource ?? '';
      const context = contextOf(group, resource, { namespace, name, subresource }, options);
      const own = context.resource.doors.get(options?.unchecked ? '' : subresource);
      const door = own && options?.unchecked ? { ...own, strategy: {} } : own;
      if (!door) throw notFound({ group, resource: `${resource}/${subresource}` }, name);
      const { stored } = await update(context, {
        door,
        mayCreate: false,
        next(live) {
          if (!live) throw notFound({ group, resource }, name);
          const changed = change(live as unknown as T);
          const draft = deepCopy(changed ?? live) as unknown as UnknownObject;
          context.resource.setDefaults(draft);
          return recordUpdate(context, door, live, draft);
        },
      });
      return stored.object as unknown as T;
    },
    async delete<T extends KubeObject>(
      group: string,
      resource: string,
      namespace: string,
      name: string,
      options?: InternalWriteOptions & { deleteOptions?: Record<string, unknown> },
    ): Promise<T> {
      const context = contextOf(group, resource, { namespace, name }, options);
      const { stored } = await remove(context, (options?.deleteOptions ?? {}) as DeleteOptions);
      return stored.object as unknown as T;
    },
  };
}
