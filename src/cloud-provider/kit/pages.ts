// Lists that come in pages. A cursor is whatever leads to the next page: a token, a number, a URL.
import { listItemsMax, pagesMax as pagesMaxDefault } from './limits.ts';

export interface Page<Item, Cursor> {
  items: readonly Item[] | null | undefined;
  /** Absent, null or '': this was the last page. */
  next?: Cursor | null | undefined | '';
}

/**
 * The list in a field of an answer. Throws when there is none: to take an error with status 200 for an empty list would be to take all machines for
 * gone. For vendors whose lists are there also when they are empty.
 */
export function listIn<Item>(answer: unknown, field: string): Item[] {
  const value = fieldOf(answer, field);
  if (!Array.isArray(value) || value.includes(null)) throw new Error(`the answer has no list "${field}"`);
  return value as Item[];
}

/** A count in a field of an answer. Throws when there is none: a list that does not say how long it is may not be whole, and what is missing counts as gone. */
export function countIn(answer: unknown, field: string): number {
  const value = fieldOf(answer, field);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new Error(`the answer has no count "${field}"`);
  return value;
}

/** Gives back the things after a check that each has a text in these fields: a thing without its name would not be found, and so count as deleted. */
export function withTexts<Thing extends object>(things: readonly Thing[], ...fields: (keyof Thing & string)[]): Thing[] {
  for (const thing of things)
    for (const field of fields) if (typeof thing[field] !== 'string') throw new Error(`a thing in the answer has no "${field}"`);
  return [...things];
}

/** The thing in a field of an answer. Throws when there is none: only the cloud's own words for it say that a thing is gone. */
export function thingIn<Thing>(answer: unknown, field: string): Thing {
  const value = fieldOf(answer, field);
  if (typeof value !== 'object' || value === null) throw new Error(`the answer has no "${field}"`);
  return value as Thing;
}

const fieldOf = (answer: unknown, field: string): unknown =>
  typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[field] : undefined;

/** All items of all pages. Rejects for a list without an end, one too long, and one whose cursor leads back to where it was. */
export async function allPages<Item, Cursor extends string | number>(
  ask: (cursor: Cursor | undefined) => Promise<Page<Item, Cursor>>,
  pagesMax: number = pagesMaxDefault,
): Promise<Item[]> {
  const items: Item[] = [];
  const seen = new Set<Cursor>();
  let cursor: Cursor | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const answer = await ask(cursor);
    const more = answer.items ?? [];
    if (!Array.isArray(more)) throw new Error('the page of a list is no list');
    if (items.length + more.length > listItemsMax) throw new Error(`the list has more than ${listItemsMax} items`);
    for (const item of more) items.push(item);
    const { next } = answer;
    if (next === undefined || next === null || next === '') return items;
    if (seen.has(next)) throw new Error(`the list leads back to its page ${JSON.stringify(next)}`);
    seen.add(next);
    cursor = next;
  }
  throw new Error(`the list has more than ${pagesMax} pages`);
}

/** All items of a list whose pages are numbered from 1, up to the first page that is not full. */
export const allNumberedPages = <Item>(
  pageItems: number,
  ask: (page: number) => Promise<readonly Item[] | null | undefined>,
  pagesMax?: number,
): Promise<Item[]> =>
  allPages<Item, number>(async (page = 1) => {
    const items = await ask(page);
    return { items, next: (items?.length ?? 0) < pageItems ? undefined : page + 1 };
  }, pagesMax);
