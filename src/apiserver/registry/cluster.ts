// Reads and writes of the server itself: what authorizers, admission plugins, special endpoints and start hooks work with.
import type { KindSettings } from '#api';
import { notFound } from '#apimachinery/errors';
import { asKind, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import { deepCopy } from '#utils';
import type { ClusterWriter, InternalWriteOptions } from './writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { ownRequest } from '../request/own.ts';
import { create } from './generic/create.ts';
import { remove } from './generic/delete.ts';
import type { DeleteOptions } from './generic/delete-options.ts';
import { patch } from './generic/patch.ts';
import { recordUpdate } from './generic/put.ts';
import { apiVersionText, type Randomness, type WriteContext, type ServedResource } from './generic/types.ts';
import { update } from './generic/update.ts';
import type { ResourceTable } from './resource-table.ts';
import type { StoredObject } from '../storage/stored-object.ts';

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
      return storage && objectOf(storage.cache.get(storage.keyOf(namespace, name)));
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

const nobody = { admit: () => undefined, validate: () => undefined };
const self = { name: 'system:apiserver', groups: ['system:masters'] };

type Place = { namespace: string; name: string; subresource?: string };
type ContextMaker = (
  group: string,
  plural: string,
  verb: string,
  at: Place,
  options?: InternalWriteOptions & { unchecked?: boolean },
) => WriteContext;

/** Writes of the apiserver's own, which nobody admits. */
function contextMaker(table: ResourceTable, now: () => number, random: Randomness, kinds: KindSettings): ContextMaker {
  const siblings = (resource: ServedResource): readonly ServedResource[] => table.siblings(resource);
  const settings = { admission: nobody, random, kinds, siblings, rest: () => undefined };
  return (group, plural, verb, at, options = {}) => {
    const resource = storedAs(table, group, plural);
    if (!resource) throw notFound({ group, resource: plural }, at.name);
    const { version, namespaced } = resource;
    const { name, subresource = '' } = at;
    const target = { group, version, resource: plural, subresource, namespace: namespaced ? at.namespace : '', name };
    return {
      request: ownRequest(self, verb, target, now()),
      resource,
      target,
      dryRun: options.dryRun ?? false,
      manager: options.manager ?? '',
      ...(options.unchecked && { unchecked: true }),
      options: {},
      settings,
    };
  };
}

export function createWriter(table: ResourceTable, now: () => number, random: Randomness, kinds: KindSettings): ClusterWriter {
  const contextOf = contextMaker(table, now, random, kinds);
  return {
    async create<T extends KubeObject>(group: string, resource: string, object: T, options?: InternalWriteOptions): Promise<T> {
      const { namespace = '', name = '' } = object.metadata;
      const context = contextOf(group, resource, 'create', { namespace, name }, options);
      const draft = deepCopy<KubeObject>(object) as UnknownObject;
      draft.apiVersion = apiVersionText(context.resource);
      draft.kind = context.resource.kind;
      context.resource.setDefaults(draft);
      return asKind<T>((await create(context, draft)).object);
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
      const context = contextOf(group, resource, 'update', { namespace, name, subresource }, options);
      const own = context.resource.doors.get(options?.unchecked ? '' : subresource);
      const door = own && options?.unchecked ? { ...own, strategy: {} } : own;
      if (!door) throw notFound({ group, resource: `${resource}/${subresource}` }, name);
      const { stored } = await update(context, {
        door,
        mayCreate: false,
        next(live) {
          if (!live) throw notFound({ group, resource }, name);
          const changed = change(asKind<T>(live));
          const draft = deepCopy<KubeObject>(changed ?? live) as UnknownObject;
          context.resource.setDefaults(draft);
          return recordUpdate(context, door, live, draft);
        },
      });
      return asKind<T>(stored.object);
    },
    async apply<T extends KubeObject>(
      group: string,
      resource: string,
      config: Partial<T> & KubeObject,
      options: InternalWriteOptions & { manager: string; subresource?: string },
    ): Promise<T> {
      const { namespace = '', name = '' } = config.metadata;
      const { subresource = '' } = options;
      const context = contextOf(group, resource, 'patch', { namespace, name, subresource }, options);
      const door = context.resource.doors.get(subresource);
      if (!door) throw notFound({ group, resource: `${resource}/${subresource}` }, name);
      const body = { ...deepCopy(config), apiVersion: apiVersionText(context.resource), kind: context.resource.kind };
      const type = 'application/apply-patch+yaml';
      const { stored } = await patch(context, door, { type, body, force: true, fieldValidation: 'Ignore', strictErrors: [] });
      return asKind<T>(stored.object);
    },
    async delete<T extends KubeObject>(
      group: string,
      resource: string,
      namespace: string,
      name: string,
      options?: InternalWriteOptions & { deleteOptions?: Record<string, unknown> },
    ): Promise<T> {
      const context = contextOf(group, resource, 'delete', { namespace, name }, options);
      const { stored } = await remove(context, (options?.deleteOptions ?? {}) as DeleteOptions);
      return asKind<T>(stored.object);
    },
  };
}
