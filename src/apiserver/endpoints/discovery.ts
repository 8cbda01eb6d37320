// Discovery (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api): the legacy lists, and the aggregated form v2.
import { createHash } from '../platform/crypto.ts';
import type { BuiltinResource } from '#api';
import { apiVersionOf } from '#apimachinery/meta';
import type { AggregatedResource, RemoteApis, RemoteVersion } from './remote-apis.ts';
import type { DiscoveredResource, ResourceTable, ServedGroup } from '../registry/resource-table.ts';

export interface DiscoveryAnswer {
  value: object;
  /** Only for the aggregated form. */
  etag?: string;
  contentType?: string;
}

const groupVersion = (group: string, version: string): { groupVersion: string; version: string } => ({
  groupVersion: apiVersionOf(group, version),
  version,
});

export const fromFacts = (facts: BuiltinResource): DiscoveredResource => ({
  name: facts.subresource === '' ? facts.resource : `${facts.resource}/${facts.subresource}`,
  singularName: facts.singularName,
  namespaced: facts.namespaced,
  kind: facts.kind,
  verbs: facts.verbs,
  shortNames: facts.shortNames,
  categories: facts.categories,
  ...(facts.storageVersionHash !== undefined && { storageVersionHash: facts.storageVersionHash }),
});

/** The document at `/api` in its legacy form. */
export const legacyVersions = (address: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
});

const groupOf = (group: string, versions: readonly string[]): object => ({
  name: group,
  versions: versions.map((version) => groupVersion(group, version)),
  preferredVersion: groupVersion(group, versions[0] ?? ''),
});

/** The document at `/apis` in its legacy form. */
export const legacyGroups = (groups: readonly ServedGroup[]): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter(({ group }) => group !== '').map(({ group, versions }) => groupOf(group, versions)),
});

/** The document at `/apis/<group>`; undefined where the group is not served. */
export function legacyGroup(groups: readonly ServedGroup[], name: string): object | undefined {
  const found = name === '' ? undefined : groups.find(({ group }) => group === name);
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(found.group, found.versions) };
}

/** The document at `/apis/<group>/<version>` or `/api/v1`; undefined where that is not served. */
export function legacyResources(table: ResourceTable, group: string, version: string): object | undefined {
  const resources = table.discovered(group, version);
  if (!resources) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(group, version),
    resources: resources.map((resource) => legacyResource(resource, group, version)),
  };
}

function legacyResource(resource: DiscoveredResource, group: string, version: string): object {
  const { kind, shortNames, categories, storageVersionHash } = resource;
  const foreign = kind.group !== group || kind.version !== version;
  return {
    name: resource.name,
    singularName: resource.singularName,
    namespaced: resource.namespaced,
    ...(foreign && { ...(kind.group && { group: kind.group }), version: kind.version }),
    kind: kind.kind,
    verbs: resource.verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(storageVersionHash !== undefined && { storageVersionHash }),
  };
}

/**
 * Whether an Accept header asks for the aggregated form before plain JSON. 'unknown': it asks for a form that is not served, and for nothing
 * else.
 */
export function wantsAggregated(accept: string): boolean | 'unknown' {
  let unknown = false;
  for (const clause of accept.split(',')) {
    const parts = clause.split(';').map((part) => part.trim());
    if (parts[0] !== 'application/json') continue;
    const parameters = new Map(parts.slice(1).map((part) => part.split('=') as [string, string]));
    if (!parameters.has('as')) return false;
    if (
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2'
    )
      return true;
    unknown = true;
  }
  return unknown ? 'unknown' : false;
}

const scopeOf = (resource: DiscoveredResource): 'Namespaced' | 'Cluster' => (resource.namespaced ? 'Namespaced' : 'Cluster');

/** The kind as upstream shows it: group and version are named only where they differ from those of the resource. */
const ownKind = ({ kind }: DiscoveredResource, group: string, version: string): DiscoveredResource['kind'] =>
  kind.group === group && kind.version === version ? { group: '', version: '', kind: kind.kind } : kind;

function aggregatedResources(resources: readonly DiscoveredResource[], group: string, version: string): AggregatedResource[] {
  const byName = new Map<string, AggregatedResource>();
  for (const resource of resources) {
    const [name = '', subresource] = resource.name.split('/');
    if (subresource === undefined) {
      byName.set(name, {
        resource: name,
        responseKind: ownKind(resource, group, version),
        scope: scopeOf(resource),
        singularResource: resource.singularName,
        verbs: resource.verbs,
        ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
        ...(resource.categories.length > 0 && { categories: resource.categories }),
      });
      continue;
    }
    const parent = byName.get(name);
    if (!parent) continue;
    parent.subresources = [
      ...(parent.subresources ?? []),
      { subresource, responseKind: ownKind(resource, group, version), verbs: resource.verbs },
    ];
  }
  return [...byName.values()];
}

interface Kept {
  key: string;
  /** What other servers serve of these versions, in order. */
  foreign: readonly (RemoteVersion | undefined)[];
  answer: DiscoveryAnswer;
}
const keptAnswers = new WeakMap<ResourceTable, Map<boolean, Kept>>();

/** `/api` (core) or `/apis` (all other groups) in the aggregated form. It is kept until the table, or what other servers serve, changes. */
export function aggregatedDiscovery(table: ResourceTable, core: boolean, aggregator: RemoteApis | undefined): DiscoveryAnswer {
  const all = aggregator?.groups(table.groups) ?? table.groups;
  const groups = all.filter(({ group }) => (group === '') === core);
  const foreign = groups.flatMap(({ group, versions }) => versions.map((version) => aggregator?.version(group, version)));
  // The order of groups is not the table's alone.
  const key = `${table.generation} ${groups.map(({ group, versions }) => `${group}:${versions.join()}`).join(' ')}`;
  const kept = keptAnswers.get(table) ?? new Map<boolean, Kept>();
  keptAnswers.set(table, kept);
  const known = kept.get(core);
  if (known?.key === key && known.foreign.every((one, at) => one === foreign[at])) return known.answer;
  const answer = newDiscovery(table, groups, aggregator);
  kept.set(core, { key, foreign, answer });
  return answer;
}

function newDiscovery(table: ResourceTable, groups: readonly ServedGroup[], aggregator: RemoteApis | undefined): DiscoveryAnswer {
  const contentOf = (group: string, version: string): object => {
    const resources = aggregatedResources(table.discovered(group, version) ?? [], group, version);
    const { resources: shown, freshness } = aggregator?.version(group, version) ?? { resources, freshness: 'Current' };
    return { ...(shown.length > 0 && { resources: shown }), freshness };
  };
  const items = groups.map(({ group, versions }) => ({
    metadata: group === '' ? {} : { name: group },
    versions: versions.map((name) => ({
      version: name,
      ...contentOf(group, name),
    })),
  }));
  const value = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
  const hash = createHash('sha512').update(JSON.stringify(items)).digest('hex').toUpperCase();
  return {
    value,
    etag: `"${hash}"`,
    contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  };
}
