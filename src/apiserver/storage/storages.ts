// One storage per stored resource, made when the first version of it is served.
import type { BuiltinResource, KindDefinition, KindSettings } from '#api';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { Metrics } from '#component-base';
import type { Store } from '#store';
import type { Clock, Logger } from '#utils';
import { ResourceCache } from './resource-cache.ts';
import type { StoreFeed } from './store-feed.ts';
import { deepFreeze } from './freeze.ts';
import { builtinPrefix, customPrefix } from './keys.ts';
import { leaseSource } from './leases.ts';
import { ResourceStorage } from './resource-storage.ts';
import { storageMetrics } from './storage-metrics.ts';
import { createSubtreeSharer } from './share.ts';
import type { StoredObject } from './stored-object.ts';
import { decodeStoredValue } from './stored-value.ts';

export interface StoragesOptions {
  store: Store;
  feed: StoreFeed;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  schema: SchemaTable;
  deepFreeze: boolean;
  isStale?: ((key: string) => boolean) | undefined;
  /** For kinds whose objects expire. */
  kindSettings: KindSettings;
}

export interface Storages {
  builtin: StorageOf;
  custom(group: string, resource: string, namespaced: boolean): Promise<ResourceStorage>;
  close(storage: ResourceStorage): void;
}

export type StorageOf = (
  definition: KindDefinition<KubeObject>,
  facts: { group: string; resource: string; namespaced: boolean },
) => ResourceStorage;

export function createStorages(options: StoragesOptions): Storages {
  const { store, feed, clock, schema, metrics, logger } = options;
  const known = new Map<string, ResourceStorage>();
  const endings = new WeakMap<ResourceStorage, () => void>();
  const sharer = createSubtreeSharer();
  const measure = storageMetrics(metrics, () => feed.revision);
  const make = (
    prefix: string,
    group: string,
    resource: string,
    namespaced: boolean,
    definition: KindDefinition<KubeObject> | undefined,
  ): ResourceStorage => {
    const indexedField = definition && indexedFieldOf(definition);
    const cache = new ResourceCache({
      prefix,
      namespaced,
      decode: (bytes) => decodeStoredValue(schema, bytes),
      ...(indexedField && { indexedField }),
      finish: (object) => {
        if (options.deepFreeze) deepFreeze(object);
      },
      now: () => clock.now(),
      onBadValue: (key, error) => logger.error('a stored object cannot be read', { key, err: (error as Error).message }),
      onBadReader: (key, error) =>
        logger.error('a change was not taken in', { key, error: error instanceof Error ? error.stack : String(error) }),
    });
    const ttlSeconds = definition?.ttlSeconds?.(options.kindSettings);
    const measured = measure(group, resource, cache);
    const storage = new ResourceStorage({
      store,
      feed,
      cache,
      share: (object: UnknownObject) => sharer.share(object),
      ...(options.isStale && { isStale: options.isStale }),
      ...(ttlSeconds !== undefined && { lease: leaseSource(store, () => clock.now(), ttlSeconds) }),
      observe: measured.requested,
      monotonicMs: () => clock.monotonic(),
    });
    endings.set(storage, measured.end);
    return storage;
  };
  return {
    builtin(definition, { resource, namespaced }: Pick<BuiltinResource, 'resource' | 'namespaced'>) {
      const prefix = builtinPrefix(definition.group, resource);
      const existing = known.get(prefix);
      if (existing) return existing;
      const storage = make(prefix, definition.group, resource, namespaced, definition);
      known.set(prefix, storage);
      void feed.register(storage.cache);
      return storage;
    },
    async custom(group, resource, namespaced) {
      const storage = make(customPrefix(group, resource), group, resource, namespaced, undefined);
      await feed.register(storage.cache);
      return storage;
    },
    close(storage) {
      endings.get(storage)?.();
      feed.unregister(storage.cache);
    },
  };
}

/** Reads the field that watchers are indexed by. */
function indexedFieldOf({
  indexedBy,
  selectableFields,
}: KindDefinition<KubeObject>): ((stored: StoredObject) => string) | undefined {
  return indexedBy === undefined ? undefined : ({ object }) => selectableFields?.(object)[indexedBy] ?? '';
}
