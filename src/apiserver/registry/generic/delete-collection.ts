// DELETE of a collection (k8s.io/apiserver/pkg/registry/generic/registry/store.go, DeleteCollection): many single deletes, some at a time.
import { isNotFound } from '#apimachinery/errors';
import { deleteCollectionWorkers } from '../../limits.ts';
import { remove, warnOfPropagation } from './delete.ts';
import type { DeleteOptions } from './delete-options.ts';
import { list, type ListPage } from './list.ts';
import type { ListOptions } from './list-options.ts';
import type { WriteContext } from './types.ts';

/** Answers the list of what was there. Stops at the first failure other than "already gone". */
export async function removeCollection(context: WriteContext, options: DeleteOptions, selection: ListOptions): Promise<ListPage> {
  warnOfPropagation(context, options);
  const page = await list(context.resource, context.target.namespace, selection, context.settings.rest);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < page.entries.length; at = next++) {
      const entry = page.entries[at];
      if (!entry) return;
      try {
        await remove(
          { ...context, target: { ...context.target, namespace: entry.namespace, name: entry.name } },
          { ...options },
          true,
        );
      } catch (error) {
        if (isNotFound(error)) continue;
        next = page.entries.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(deleteCollectionWorkers, page.entries.length) }, work));
  return page;
}
