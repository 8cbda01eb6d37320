// One storage per stored resource, made when the first version of it is served.
import type { BuiltinResource, KindDefinition } from '#api';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import { exponentialBuckets, type Metrics } from '#component-base';
import type { Store } from '#store';
import type { Clock, Logger } from '#utils';
import { ResourceCache } from './cache/resource-cache.ts';
import type { StoreFeed } from './cache/store-feed.ts';
import { decodeStoredValue } from './endpoints/body.ts';
import { deepFreeze } from './registry/generic/values.ts';
import { builtinPrefix } from './storage/keys.ts';
import { leaseSource } from './storage/leases.ts';
import { ResourceStorage } from './storage/resource-storage.ts';
import { createSubtreeSharer } from './storage/share.ts';
import type { StoredObject } from './storage/stored-object.ts';

export interface StoragesOptions {
  store: Store;
  feed: StoreFeed;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  schema: SchemaTable;
  deepFreeze: boolean;
  eventTtlSeconds: number;
}

export type StorageOf = (
  definition: KindDefinition<KubeObject>,
  facts: { group: string; resource: string; namespaced: boolean },
) => ResourceStorage;

const indexedFieldName = 'spec.nodeName';

export function createStorages(options: StoragesOptions): StorageOf {
  const { store, feed, clock, schema, metrics, logger } = options;
  const known = new Map<string, ResourceStorage>();
  const sharer = createSubtreeSharer();
  const durations = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Etcd request latency in seconds for each operation and object type.',
    labels: ['operation', 'group', 'resource'],
    buckets: exponentialBuckets(0.005, 2, 14),
  });
  return (definition, { resource, namespaced }: Pick<BuiltinResource, 'resource' | 'namespaced'>) => {
    const { group } = definition;
    const prefix = builtinPrefix(group, resource);
    const existing = known.get(prefix);
    if (existing) return existing;
    const indexedField = indexedFieldOf(definition);
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
    });
    const isEvent = group === '' && resource === 'events';
    const storage = new ResourceStorage({
      store,
      feed,
      cache,
      share: (object: UnknownObject) => sharer.share(object),
      ...(isEvent && { lease: leaseSource(store, () => clock.now(), options.eventTtlSeconds) }),
      observe: (operation, seconds) => durations.observe(seconds, operation, group, resource),
      monotonicMs: () => clock.monotonic(),
    });
    known.set(prefix, storage);
    void feed.register(cache);
    return storage;
  };
}

/** The kinds that can be selected by node keep an index of it. */
function indexedFieldOf(definition: KindDefinition<KubeObject>): ((stored: StoredObject) => string) | undefined {
  const { selectableFields } = definition;
  if (!selectableFields) return undefined;
  const names = Object.keys(selectableFields({ metadata: {}, spec: {}, status: {} } as never));
  return names.includes(indexedFieldName) ? ({ object }) => selectableFields(object)[indexedFieldName] ?? '' : undefined;
}
