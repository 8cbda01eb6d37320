// Tags of everything that EC2 has.
import { collectAll } from './tagged.ts';
import type { Action, Actions } from '../account.ts';
import { missing } from '../errors.ts';
import { filtered } from '../pages.ts';
import { type Parameters, tagsIn } from '../parameters.ts';
import { paged } from './networks.ts';

function resourcesOf(parameters: Parameters): string[] {
  const ids = parameters.list('ResourceId');
  if (ids.length === 0) throw missing('ResourceId');
  return ids;
}

const createTags: Action = async ({ cloud }, parameters) => {
  const set = tagsIn(parameters, 'Tag');
  for (const resourceId of resourcesOf(parameters)) await cloud.changeTags({ resourceId, set });
  return { return: true };
};

/** A tag that is named with a value goes only when it has that value. Without tags, all go. */
const deleteTags: Action = async (account, parameters) => {
  const wanted = parameters.parts('Tag').map((tag) => ({ key: tag.need('Key'), value: tag.get('Value') }));
  const all = await collectAll(account);
  for (const resourceId of resourcesOf(parameters)) {
    const tags = all.find(({ id }) => id === resourceId)?.tags ?? {};
    const goes = ([key, now]: [string, string]): boolean =>
      wanted.length === 0 || wanted.some((tag) => tag.key === key && (tag.value === undefined || tag.value === now));
    const remove = Object.entries(tags)
      .filter(goes)
      .map(([key]) => key);
    await account.cloud.changeTags({ resourceId, remove });
  }
  return { return: true };
};

const describeTags: Action = async (account, parameters) => {
  const all = (await collectAll(account)).flatMap(({ id, type, tags }) =>
    Object.entries(tags).map(([key, value]) => ({ id, type, key, value, tags: {} })),
  );
  const found = filtered(all, parameters, {
    'resource-id': ({ id }) => [id],
    'resource-type': ({ type }) => [type],
    key: ({ key }) => [key],
    value: ({ value }) => [value],
  });
  const { items, next } = paged(found, parameters);
  return {
    tagSet: items.map(({ id, type, key, value }) => ({ resourceId: id, resourceType: type, key, value })),
    nextToken: next,
  };
};

export const tagActions: Actions = { CreateTags: createTags, DeleteTags: deleteTags, DescribeTags: describeTags };
