// Tags of any resource.
import { limitExceeded, notFound } from '../api/errors.ts';
import type { World } from '../model/index.ts';
import type { Changes } from './command.ts';
import type { Context } from './context.ts';
import { type Collection, collections, own, put } from './world.ts';

const tagsMax = 50;

function change<C extends Collection>(
  world: World,
  context: Context,
  collection: C,
  id: string,
  set: Record<string, string>,
  gone: readonly string[],
) {
  const item = own(world, context, collection, id);
  const kept = Object.entries({ ...item.tags, ...set }).filter(([key]) => !gone.includes(key));
  if (kept.length > tagsMax) throw limitExceeded(`at most ${tagsMax} tags`);
  const tags = Object.fromEntries(kept);
  return { world: put(world, collection, { ...item, tags }), result: { tags } };
}

export const tagChanges: Changes<'changeTags'> = {
  changeTags(world, { resourceId, set, remove }, context) {
    const collection = collections.find((name) => world[name].has(resourceId));
    if (!collection) throw notFound('Resource', resourceId);
    return change(world, context, collection, resourceId, set, remove);
  },
};
