// The controllers of a provider as loops of the manager: one among the others in `--controllers`, under the lease, in metrics and health.
import type { KubeObject } from '#apimachinery/meta';
import type { CloudControllerDefinition, CloudProvider, CloudWatch } from '#cloud-provider';
import { type Cache, type ControllerDefinition, defineController, type WatchDefinition, wholeCluster } from '#controller-runtime';
import type { CloudControllerEntry } from './controller-entry.ts';

/** Whether this very object is gone, judged by what the cache has under its name. */
const isGone = ({ resource }: CloudWatch, { metadata }: KubeObject, cache: Cache): boolean =>
  cache.get(resource, metadata.namespace ?? '', metadata.name ?? '')?.metadata.uid !== metadata.uid;

const watchOf = (wanted: CloudWatch): WatchDefinition => ({
  resource: wanted.resource,
  keys: (object, old, cache) => wanted.keys({ object, ...(old && { old }), gone: !old && isGone(wanted, object, cache) }),
});

const asController = (definition: CloudControllerDefinition): ControllerDefinition =>
  defineController({
    name: definition.name,
    ...(definition.serviceAccount !== undefined && { serviceAccount: definition.serviceAccount }),
    for: definition.for ?? wholeCluster,
    rights: [...definition.rights],
    watches: definition.watches.map(watchOf),
    view: (key, cache, context) => definition.view(key, cache, context),
    reconcile: (view, now) => definition.reconcile(view, now),
    actions: () => Object.entries(definition.actions ?? {}).map(([name, run]) => ({ name, run })),
    concurrency: definition.concurrency ?? 1,
  });

/** Entries for those of a provider. Throws for a name that another controller has. */
export function providerControllers(
  { controllers = [] }: CloudProvider,
  own: readonly Pick<CloudControllerEntry, 'name' | 'aliases'>[],
): CloudControllerEntry[] {
  const taken = new Set(own.flatMap(({ name, aliases }) => [name, ...aliases]));
  return controllers.map((definition) => {
    const { name, aliases = [], disabledByDefault = false, problem } = definition;
    for (const one of [name, ...aliases])
      if (taken.has(one)) throw new Error(`the cloud provider's controller "${one}" has the name of another controller`);
      else taken.add(one);
    return {
      name,
      aliases,
      metric: name,
      disabledByDefault,
      ...(problem !== undefined && { problem }),
      make: () => asController(definition),
    };
  });
}
