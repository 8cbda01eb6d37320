// An APIService for every group version served here: those of the server itself once when it starts, those of custom resources for as long as
// they are served (k8s.io/kube-aggregator/pkg/controllers/autoregister; pkg/controlplane/controller/crdregistration).
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import type { APIService } from '#api/apiregistration/v1';
import { builtinGroups } from '#api';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { VirtualGroup } from '../registry/virtual-group.ts';
import { ensure, type Wanted } from '../bootstrap/ensure.ts';
import { isConflict, isNotFound } from '#apimachinery/errors';
import { builtinPriority, customPriority, type Priority } from './priorities.ts';

export const apiServiceGroup = 'apiregistration.k8s.io';
export const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';
/** Values of the label: made once at the start, or kept as long as the reason for it is there. */
const onStart = 'onstart';
const always = 'true';

const local = (group: string, version: string, priority: Priority, managed: string): APIService => ({
  metadata: { name: `${version}.${group}`, labels: { [managedLabel]: managed } },
  spec: { ...(group !== '' && { group }), version, ...priority },
});

const builtinServices = (): APIService[] =>
  builtinGroups().flatMap(({ group, versions }) =>
    versions.flatMap(({ version }) => {
      const priority = builtinPriority(group, version);
      return priority ? [local(group, version, priority, onStart)] : [];
    }),
  );

/** The APIServices of groups that a Service of the user's may take over. */
const replaceable = (groups: readonly VirtualGroup[]): APIService[] =>
  groups.map(({ group, version, priority }) => local(group, version, priority, onStart));

const sameSpec = ({ spec: a }: APIService, { spec: b }: APIService): boolean =>
  a?.group === b?.group &&
  a?.version === b?.version &&
  a?.groupPriorityMinimum === b?.groupPriorityMinimum &&
  a?.versionPriority === b?.versionPriority &&
  !a?.service;

/** Only what carries the label is the server's to change. */
const corrected = (current: APIService, wanted: APIService): APIService | undefined =>
  current.metadata.labels?.[managedLabel] === undefined || sameSpec(current, wanted)
    ? undefined
    : ({ ...current, spec: wanted.spec } as APIService);

async function remove(writer: ClusterWriter, { metadata: { name = '', uid = '' } }: APIService): Promise<void> {
  try {
    await writer.delete(apiServiceGroup, 'apiservices', '', name, { deleteOptions: { preconditions: { uid } } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

const registered = (cluster: ReadOnlyCluster, managed: string): APIService[] =>
  cluster.list<APIService>(apiServiceGroup, 'apiservices').filter(({ metadata }) => metadata.labels?.[managedLabel] === managed);

const wantedService = (object: APIService): Wanted<APIService> => ({ group: apiServiceGroup, resource: 'apiservices', object });

const write = (cluster: ReadOnlyCluster, writer: ClusterWriter, wanted: readonly APIService[]): Promise<void> =>
  ensure(cluster, writer, wanted.map(wantedService), corrected);

/** Once, at the start: what somebody deletes later stays away until the next start. */
export async function registerBuiltin(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  virtual: readonly VirtualGroup[] = [],
): Promise<void> {
  const wanted = builtinServices();
  const yielding = replaceable(virtual);
  const names = new Set([...wanted, ...yielding].map(({ metadata }) => metadata.name));
  await write(cluster, writer, wanted);
  await ensure(cluster, writer, yielding.map(wantedService));
  const taken = ({ spec }: APIService): boolean => spec?.service !== undefined && spec.service !== null;
  const spurious = registered(cluster, onStart).filter((one) => !names.has(one.metadata.name) && !taken(one));
  await Promise.all(spurious.map((service) => remove(writer, service)));
}

/** Brings the APIServices of custom resources up to date with the definitions. */
export async function registerCustom(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void> {
  const wanted = new Map<string, APIService>();
  for (const { spec } of cluster.list<CustomResourceDefinition>('apiextensions.k8s.io', 'customresourcedefinitions'))
    for (const { name: version, served } of spec.versions)
      if (served && !builtinPriority(spec.group, version))
        wanted.set(`${version}.${spec.group}`, local(spec.group, version, customPriority, always));
  await write(cluster, writer, [...wanted.values()]);
  const spurious = registered(cluster, always).filter(({ metadata }) => !wanted.has(metadata.name ?? ''));
  await Promise.all(spurious.map((service) => remove(writer, service)));
}
