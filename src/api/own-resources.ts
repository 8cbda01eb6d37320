// Kinds that the table of what a default apiserver serves does not list: each says itself how it is served.
import { apiVersionOf, type KubeObject } from '#apimachinery/meta';
import type { BuiltinGroup, BuiltinResource } from './builtin-schema.ts';
import type { KindDefinition, OwnResource } from './kind.ts';

export interface ServedFacts {
  groups: readonly BuiltinGroup[];
  resources: readonly BuiltinResource[];
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

function factsOf({ group, version, kind }: KindDefinition<KubeObject>, own: OwnResource): BuiltinResource[] {
  const { resource, singularName, namespaced, shortNames = [], categories = [], hasStatus = false } = own;
  const common = { group, version, resource, namespaced, kind: { group, version, kind } };
  const main = { ...common, subresource: '', singularName, verbs, shortNames, categories };
  const status = { ...common, subresource: 'status', singularName: '', verbs: statusVerbs, shortNames: [], categories: [] };
  return hasStatus ? [main, status] : [main];
}

function withVersion(groups: readonly BuiltinGroup[], { group, version }: BuiltinResource): readonly BuiltinGroup[] {
  const known = groups.find((one) => one.group === group);
  if (!known) return [...groups, { group, versions: [{ version }] }];
  if (known.versions.some((one) => one.version === version)) return groups;
  return groups.map((one) => (one === known ? { group, versions: [...one.versions, { version }] } : one));
}

/** The facts with those of the definitions that bring their own. Throws for one that the facts have already. */
export function withOwnResources(facts: ServedFacts, definitions: readonly KindDefinition<KubeObject>[]): ServedFacts {
  let { groups, resources } = facts;
  for (const definition of definitions) {
    if (!definition.resource) continue;
    const own = factsOf(definition, definition.resource);
    const [{ group, version, resource }] = own as [BuiltinResource];
    if (resources.some((one) => one.group === group && one.version === version && one.resource === resource))
      throw new Error(`${resource} of ${apiVersionOf(group, version)} is in the table of resources already`);
    resources = [...resources, ...own];
    groups = withVersion(groups, own[0] as BuiltinResource);
  }
  return { groups, resources };
}
