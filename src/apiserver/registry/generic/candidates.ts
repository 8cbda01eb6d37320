// The objects that a selector can match at all, where a name or an index says so: a request for one object, or for the pods of one node, does not
// look at all the others.
import type { StoredObject } from '../../storage/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import type { ServedResource } from './types.ts';

/** What the name, or the indexed field, that a selector asks for leads to: in the order of keys, as of each call. */
export function candidatesOf(
  { storage: { cache, prefix }, namespaced, definition }: ServedResource,
  namespace: string,
  { fieldSelector }: ListOptions,
): (() => StoredObject[]) | undefined {
  const name = fieldSelector.exactMatch('metadata.name');
  if (name !== undefined && (!namespaced || namespace !== '')) {
    const found = (): StoredObject | undefined => cache.get(`${prefix}${namespaced ? `${namespace}/` : ''}${name}`);
    return () => [found()].filter((entry) => entry !== undefined);
  }
  const value = definition.indexedBy === undefined ? undefined : fieldSelector.exactMatch(definition.indexedBy);
  const { byField } = cache;
  return value === undefined || !byField ? undefined : () => byField.find(value);
}
