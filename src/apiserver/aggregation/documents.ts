// What other API servers say they serve (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery): the aggregated form,
// or made from the legacy one. All of it is somebody else's text, read by its type.
import type { APIGroupDiscoveryList } from '#api/apidiscovery/v2';
import type { APIResource, APIResourceList, GroupVersionKind } from '#api/meta/v1';
import type { AggregatedResource } from '../endpoints/remote-apis.ts';
import { readAnswer } from '../outbound/read-answer.ts';

const kindOf = ({ group = '', version = '', kind = '' }: Partial<GroupVersionKind> = {}): AggregatedResource['responseKind'] => ({
  group,
  version,
  kind,
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

/** `group/version` -> its resources. Throws `DecodeError` for what is no such document. */
export function resourcesByVersion(text: string): Map<string, AggregatedResource[]> {
  const found = new Map<string, AggregatedResource[]>();
  const { items } = readAnswer<APIGroupDiscoveryList>(text, 'io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList');
  for (const { metadata, versions } of items ?? []) {
    for (const { version, resources } of versions ?? []) {
      const shown = (resources ?? []).map(({ subresources, verbs, scope, responseKind, ...more }) => ({
        ...more,
        scope: scope as AggregatedResource['scope'],
        verbs: verbs ?? [],
        responseKind: kindOf(responseKind),
        ...(subresources && {
          subresources: subresources.map((one) => ({ ...one, verbs: one.verbs ?? [], responseKind: kindOf(one.responseKind) })),
        }),
      }));
      found.set(`${metadata?.name ?? ''}/${version}`, shown);
    }
  }
  return found;
}

type Subresource = NonNullable<AggregatedResource['subresources']>[number];

/** The resources of an APIResourceList in the aggregated form. Throws `DecodeError` for what is no such list. */
export function fromLegacy(text: string): AggregatedResource[] {
  const byName = new Map<string, AggregatedResource>();
  const parts = new Map<AggregatedResource, Subresource[]>();
  const { resources } = readAnswer<APIResourceList>(text, 'io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList');
  const all = resources ?? [];
  const scopeOf = ({ namespaced }: APIResource): AggregatedResource['scope'] => (namespaced ? 'Namespaced' : 'Cluster');
  for (const legacy of all) {
    const { name = '', singularName = '', verbs, shortNames, categories } = legacy;
    if (name.includes('/')) continue;
    byName.set(name, {
      resource: name,
      responseKind: kindOf(legacy),
      scope: scopeOf(legacy),
      singularResource: singularName,
      verbs: verbs ?? [],
      ...(shortNames?.length && { shortNames }),
      ...(categories?.length && { categories }),
    });
  }
  for (const legacy of all) {
    const [name = '', subresource] = (legacy.name ?? '').split('/');
    if (subresource === undefined) continue;
    // A subresource may be served without its parent.
    const parent = byName.get(name) ?? {
      resource: name,
      responseKind: kindOf(),
      scope: scopeOf(legacy),
      singularResource: '',
      verbs: [],
    };
    byName.set(name, parent);
    const known = parts.get(parent) ?? [];
    parts.set(parent, known);
    known.push({ subresource, responseKind: kindOf(legacy), verbs: legacy.verbs ?? [] });
  }
  for (const [parent, subresources] of parts) parent.subresources = subresources;
  return [...byName.values()];
}
