// The objects that a selector can match at all, where a name or an index says so: a request for one object, or for the pods of one node, does not
// look at all the others.
import { indexedCandidatesMax } from '../../limits.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import type { ServedResource, WriteSettings } from './types.ts';

/** What the name, the indexed field or the labels that a selector asks for lead to, in the order of keys. Undefined: it may be any object. */
export function candidatesOf(
  { storage: { cache, prefix }, namespaced, definition, versions }: ServedResource,
  namespace: string,
  { fieldSelector, labelSelector }: ListOptions,
  rest: WriteSettings['rest'],
): StoredObject[] | undefined {
  const scope = namespaced && namespace !== '' ? `${prefix}${namespace}/` : prefix;
  const name = fieldSelector.exactMatch('metadata.name');
  if (name !== undefined && (!namespaced || namespace !== '')) {
    const found = cache.get(`${scope}${name}`);
    return found ? [found] : [];
  }
  const { indexedBy } = definition;
  const value = indexedBy === undefined ? undefined : fieldSelector.exactMatch(indexedBy);
  if (value !== undefined && cache.byField && cache.byField.count([value]) <= indexedCandidatesMax)
    return cache.byField.find([value]);
  // In another version an object may have other labels.
  const labelled = versions ? undefined : cache.byLabel.find(labelSelector.requirements, rest);
  const inScope = labelled?.filter(({ key }) => key.startsWith(scope));
  // Upstream looks at all objects: a page that is full goes on where any comes after it, whether or not that is selected.
  const last = inScope && cache.entries.last(scope);
  if (last && last !== inScope.at(-1)) inScope.push(last);
  return inScope;
}
