// Follows CustomResourceDefinitions: accepts their names, serves their versions, and cleans up behind those that are deleted
// (k8s.io/apiextensions-apiserver/pkg/controller: status, establish, finalizer; pkg/apiserver/customresource_handler.go).
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '#api/apiextensions/v1';
import { formatTime } from '#apimachinery/meta';
import { isNotFound } from '#apimachinery/errors';
import type { SchemaTable } from '#apimachinery/schema';
import type { Clock, Logger, Timer } from '#utils';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { DiscoveredResource, ResourceTable, ServedGroup } from '../registry/resource-table.ts';
import type { ResourceStorage } from '../storage/resource-storage.ts';
import { deepEqual } from '../registry/generic/values.ts';
import { approvedStatus } from './approval.ts';
import { isTrue, withCondition } from './conditions.ts';
import type { ConverterFactory } from './conversion/converter.ts';
import { customResource, discoveredOf } from './custom-resource.ts';
import { definitionRetryMs } from '../limits.ts';
import { cleanupFinalizer } from './definition-deletion.ts';
import { acceptNames, namedStatus } from './names.ts';
import { compareVersions } from './versions.ts';

const apiGroup = 'apiextensions.k8s.io';
const resourceName = 'customresourcedefinitions';

export interface ServeDefinitionsOptions {
  table: ResourceTable;
  schema: SchemaTable;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  clock: Clock;
  logger: Logger;
  /** Makes the storage of a custom resource, or finds it; resolves when it can be read. */
  openStorage(group: string, resource: string, namespaced: boolean): Promise<ResourceStorage>;
  closeStorage(storage: ResourceStorage): void;
  /** How objects of a definition get from one version to another. */
  converterOf: ConverterFactory;
}

interface Deps extends ServeDefinitionsOptions {
  /** Looks at the definition of that name again. */
  again(name: string): void;
}

interface Served {
  crd: CustomResourceDefinition;
  storage: ResourceStorage;
  versions: string[];
}

export function serveDefinitions(options: ServeDefinitionsOptions): () => void {
  const { cluster } = options;
  const builtinGroups = [...options.table.groups];
  const served = new Map<string, Served>();
  let stopped = false;
  // One definition after the other: each change sees what the one before did.
  let queue = Promise.resolve();
  const retries = new Map<string, Timer>();
  const later = (name: string): void => {
    retries.get(name)?.cancel();
    retries.delete(name);
    queue = queue
      .then(() => reconcile({ ...options, again: later }, served, builtinGroups, name))
      .catch((error: unknown) => {
        options.logger.error('serving a custom resource failed', { crd: name, err: (error as Error).message });
        if (!stopped)
          retries.set(
            name,
            options.clock.setTimer(definitionRetryMs, () => later(name)),
          );
      });
  };
  const changed = (now: CustomResourceDefinition | undefined, before: CustomResourceDefinition | undefined): void => {
    const name = now?.metadata.name ?? before?.metadata.name ?? '';
    later(name);
    if (now) return;
    // The names of one that is gone are free for those that had to wait.
    for (const { metadata, spec, status } of cluster.list<CustomResourceDefinition>(apiGroup, resourceName))
      if (spec.group === before?.spec.group && !isTrue(status, 'NamesAccepted')) later(metadata.name ?? '');
  };
  for (const crd of cluster.list<CustomResourceDefinition>(apiGroup, resourceName)) changed(crd, undefined);
  const unfollow = cluster.onChange<CustomResourceDefinition>(apiGroup, resourceName, changed);
  return () => {
    stopped = true;
    unfollow();
    for (const timer of retries.values()) timer.cancel();
  };
}

async function reconcile(
  options: Deps,
  served: Map<string, Served>,
  builtin: readonly ServedGroup[],
  name: string,
): Promise<void> {
  const crd = options.cluster.get<CustomResourceDefinition>(apiGroup, resourceName, '', name);
  if (!crd) return stop(options, served, builtin, name);
  if (crd.metadata.deletionTimestamp !== undefined) {
    await cleanUp(options, served, crd);
    return;
  }
  await establish(options, crd);
  await serve(options, served, builtin, crd);
}

/** Accepts the names that no other definition of the group has, and establishes the resource when all are accepted. */
async function establish({ writer, cluster, clock }: ServeDefinitionsOptions, crd: CustomResourceDefinition): Promise<void> {
  const rivals = cluster
    .list<CustomResourceDefinition>(apiGroup, resourceName)
    .filter((other) => other.spec.group === crd.spec.group && other.metadata.name !== crd.metadata.name);
  const lastTransitionTime = formatTime(clock.now());
  const next = (current: CustomResourceDefinition): CustomResourceDefinition | undefined => {
    const named = namedStatus(current.status, acceptNames(current, rivals), lastTransitionTime);
    const status = approvedStatus(named, current, lastTransitionTime);
    return deepEqual(status, current.status) ? undefined : { ...current, status };
  };
  if (next(crd) === undefined) return;
  await writer.update<CustomResourceDefinition>(apiGroup, resourceName, '', crd.metadata.name ?? '', next, {
    subresource: 'status',
    manager: 'kube-apiserver',
  });
}

async function serve(
  options: ServeDefinitionsOptions,
  served: Map<string, Served>,
  builtin: readonly ServedGroup[],
  stale: CustomResourceDefinition,
): Promise<void> {
  const name = stale.metadata.name ?? '';
  const crd = options.cluster.get<CustomResourceDefinition>(apiGroup, resourceName, '', name);
  if (!crd || !isTrue(crd.status, 'Established')) return;
  const before = served.get(name);
  if (before && before.crd.metadata.generation === crd.metadata.generation) return;
  const { group, names, scope, versions } = crd.spec;
  const storage = before?.storage ?? (await options.openStorage(group, names.plural, scope === 'Namespaced'));
  const live = versions.filter((version) => version.served);
  for (const gone of before?.versions ?? [])
    if (!live.some((version) => version.name === gone)) options.table.remove(group, gone, names.plural);
  const convert = options.converterOf(crd);
  const isClosing = (): boolean =>
    isTrue(options.cluster.get<CustomResourceDefinition>(apiGroup, resourceName, '', name)?.status, 'Terminating');
  for (const version of live) options.table.add({ ...customResource(crd, version, storage, options.schema, convert), isClosing });
  served.set(name, { crd, storage, versions: live.map((version) => version.name) });
  publish(options.table, served, builtin, group);
}

function stop(
  options: ServeDefinitionsOptions,
  served: Map<string, Served>,
  builtin: readonly ServedGroup[],
  name: string,
): void {
  const gone = served.get(name);
  if (!gone) return;
  served.delete(name);
  const { group, names } = gone.crd.spec;
  for (const version of gone.versions) options.table.remove(group, version, names.plural);
  options.closeStorage(gone.storage);
  publish(options.table, served, builtin, group);
}

const inProgress = {
  ...{ type: 'Terminating', status: 'True' },
  ...{ reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' },
};
const completed = { type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' };

/** Deletes every object, then lets the definition go. */
async function cleanUp(
  { writer, again, clock }: Deps,
  served: Map<string, Served>,
  crd: CustomResourceDefinition,
): Promise<void> {
  if (!crd.metadata.finalizers?.includes(cleanupFinalizer)) return;
  const lastTransitionTime = formatTime(clock.now());
  await tell(writer, crd, { ...inProgress, lastTransitionTime });
  const own = served.get(crd.metadata.name ?? '');
  for (const { namespace, name } of own?.storage.cache.entries.values(own.storage.prefix) ?? []) {
    await writer.delete(crd.spec.group, crd.spec.names.plural, namespace, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  if ((own?.storage.cache.entries.size ?? 0) > 0) {
    // Held by finalizers: the last one to go wakes us.
    const wake = own?.storage.cache.onChange(() => {
      if ((own.storage.cache.entries.size ?? 0) > 0) return;
      wake?.();
      again(crd.metadata.name ?? '');
    });
    return;
  }
  // Somebody else's finalizer may keep the definition.
  if (crd.metadata.finalizers.length > 1) await tell(writer, crd, { ...completed, lastTransitionTime });
  await release(writer, crd);
}

/** Writes a condition of a definition that is being deleted. */
async function tell(
  writer: ClusterWriter,
  crd: CustomResourceDefinition,
  condition: CustomResourceDefinitionCondition,
): Promise<void> {
  const next = (current: CustomResourceDefinition): CustomResourceDefinition | undefined => {
    const status = withCondition(current.status, condition);
    return deepEqual(status, current.status) ? undefined : { ...current, status };
  };
  if (next(crd) === undefined) return;
  await writer
    .update<CustomResourceDefinition>(apiGroup, resourceName, '', crd.metadata.name ?? '', next, {
      subresource: 'status',
      manager: 'kube-apiserver',
    })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

async function release(writer: ClusterWriter, crd: CustomResourceDefinition): Promise<void> {
  const without = (current: CustomResourceDefinition): CustomResourceDefinition | undefined => {
    const finalizers = current.metadata.finalizers?.filter((finalizer) => finalizer !== cleanupFinalizer) ?? [];
    return { ...current, metadata: { ...current.metadata, finalizers } };
  };
  await writer
    .update<CustomResourceDefinition>(apiGroup, resourceName, '', crd.metadata.name ?? '', without)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

function publish(table: ResourceTable, served: Map<string, Served>, builtin: readonly ServedGroup[], changedGroup: string): void {
  const byGroup = new Map<string, Map<string, DiscoveredResource[]>>();
  for (const { crd, versions } of served.values()) {
    const group = byGroup.get(crd.spec.group) ?? new Map<string, DiscoveredResource[]>();
    byGroup.set(crd.spec.group, group);
    for (const version of crd.spec.versions)
      if (versions.includes(version.name))
        group.set(version.name, [...(group.get(version.name) ?? []), ...discoveredOf(crd, version)]);
  }
  const before = table.groups.find(({ group }) => group === changedGroup)?.versions ?? [];
  for (const version of before) if (!byGroup.get(changedGroup)?.has(version)) table.removeVersion(changedGroup, version);
  for (const [version, resources] of byGroup.get(changedGroup) ?? []) table.setDiscovered(changedGroup, version, resources);
  const custom = [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, versions]) => ({ group, versions: [...versions.keys()].sort(compareVersions) }));
  table.setGroups([...builtin, ...custom]);
}
