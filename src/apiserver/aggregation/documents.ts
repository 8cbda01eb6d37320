// What other API servers say they serve (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery): the aggregated form,
// or made from the legacy one. All of it is somebody else's text: what does not fit is left out.

import type { AggregatedResource } from '../endpoints/remote-apis.ts';

interface LegacyResource {
  name: string;
  singularName?: string;
  namespaced?: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs?: string[];
  shortNames?: string[];
  categories?: string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);
const kindOf = (value: unknown): AggregatedResource['responseKind'] => ({
  group: '',
  version: '',
  kind: '',
  ...(isObject(value) && (value as Partial<AggregatedResource['responseKind']>)),
});

const aggregatedTypes = new Set(['v2', 'v2beta1']);

/** Whether a content type names the aggregated form in a version that is understood. */
export function isAggregatedType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  const values = new Map(parameters.map((part) => part.split('=', 2) as [string, string]));
  return (
    type === 'application/json' &&
    values.get('g') === 'apidiscovery.k8s.io' &&
    values.get('as') === 'APIGroupDiscoveryList' &&
    aggregatedTypes.has(values.get('v') ?? '')
  );
}

/** `group/version` -> its resources. */
export function resourcesByVersion(document: unknown): Map<string, AggregatedResource[]> {
  const found = new Map<string, AggregatedResource[]>();
  for (const group of listOf(isObject(document) ? document['items'] : undefined)) {
    const name = isObject(group['metadata']) ? String(group['metadata']['name'] ?? '') : '';
    for (const version of listOf(group['versions'])) {
      const resources = listOf(version['resources']).map((resource) => ({
        ...(resource as unknown as AggregatedResource),
        responseKind: kindOf(resource['responseKind']),
        ...(resource['subresources'] !== undefined && {
          subresources: listOf(resource['subresources']).map((one) => ({
            ...(one as unknown as NonNullable<AggregatedResource['subresources']>[number]),
            responseKind: kindOf(one['responseKind']),
          })),
        }),
      }));
      found.set(`${name}/${String(version['version'] ?? '')}`, resources);
    }
  }
  return found;
}

/** The resources of an APIResourceList in the aggregated form. */
export function fromLegacy(document: unknown): AggregatedResource[] {
  const byName = new Map<string, AggregatedResource>();
  const all = listOf(isObject(document) ? document['resources'] : undefined) as unknown as LegacyResource[];
  const kind = ({ group = '', version = '', kind: name }: LegacyResource) => ({ group, version, kind: name });
  for (const legacy of all) {
    const [name = '', subresource] = legacy.name.split('/');
    if (subresource !== undefined) continue;
    byName.set(name, {
      resource: name,
      responseKind: kind(legacy),
      scope: legacy.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: legacy.singularName ?? '',
      verbs: legacy.verbs ?? [],
      ...(legacy.shortNames?.length && { shortNames: legacy.shortNames }),
      ...(legacy.categories?.length && { categories: legacy.categories }),
    });
  }
  for (const legacy of all) {
    const [name = '', subresource] = legacy.name.split('/');
    if (subresource === undefined) continue;
    const one = { subresource, responseKind: kind(legacy), verbs: legacy.verbs ?? [] };
    const parent = byName.get(name);
    // A subresource may be served without its parent.
    if (!parent) {
      const scope = legacy.namespaced ? 'Namespaced' : 'Cluster';
      const responseKind = { group: '', version: '', kind: '' };
      byName.set(name, { resource: name, responseKind, scope, singularResource: '', verbs: [], subresources: [one] });
    } else parent.subresources = [...(parent.subresources ?? []), one];
  }
  return [...byName.values()];
}
