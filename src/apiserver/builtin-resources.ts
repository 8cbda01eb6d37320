// The resources that are served from the start: storages over the store, the table of what is served, and its discovery.
import { builtinGroups, builtinKinds, builtinResources, builtinSchema, type KindSettings, withOwnResources } from '#api';
import type { Metrics } from '#component-base';
import type { Logger } from '#utils';
import { withCleanUp } from './apiextensions/definition-deletion.ts';
import { fromFacts } from './endpoints/discovery.ts';
import { builtinServed } from './registry/builtin.ts';
import type { ResourceTable } from './registry/resource-table.ts';
import type { ApiServerOptions } from './server-options.ts';
import type { StoreFeed } from './storage/store-feed.ts';
import { createStorages, type Storages } from './storage/storages.ts';

export interface BuiltinDeps {
  table: ResourceTable;
  feed: StoreFeed;
  metrics: Metrics;
  logger: Logger;
  kindSettings: KindSettings;
}

const everything = (): boolean => true;

/** Fills the table with the built-in resources. Resolves when all that is stored of them is in the caches. */
export async function serveBuiltins(options: ApiServerOptions, deps: BuiltinDeps): Promise<Storages> {
  const { store, clock, isServed = everything, kinds = builtinKinds, deepFreeze = false } = options;
  const { table, feed } = deps;
  const schema = builtinSchema();
  const definitions = kinds.map(withCleanUp);
  const all = withOwnResources({ groups: builtinGroups(), resources: builtinResources() }, definitions);
  const facts = all.resources.filter(({ group, version }) => isServed(group, version));
  const groups = all.groups
    .map(({ group, versions }) => ({
      group,
      versions: versions.map(({ version }) => version).filter((version) => isServed(group, version)),
    }))
    .filter(({ versions }) => versions.length > 0);
  const storages = createStorages({
    ...deps,
    store,
    clock,
    schema,
    deepFreeze,
    isStale: options.isStale && ((key) => options.isStale?.(key) ?? false),
  });
  for (const resource of builtinServed({ facts, schema, definitions, storageOf: storages.builtin })) table.add(resource);
  table.setGroups(groups);
  for (const { group, versions } of groups)
    for (const version of versions) {
      const own = facts.filter((fact) => fact.group === group && fact.version === version);
      table.setDiscovered(group, version, own.map(fromFacts));
    }
  await feed.start();
  return storages;
}
