// Lists in pages, and filters. Pure.
import { AwsError, invalid } from './errors.ts';
import { pageItems } from './limits.ts';
import type { Parameters } from './parameters.ts';

/** A page of a list; `next` is undefined at its end. */
export function pageOf<T>(
  items: readonly T[],
  { size = pageItems, token }: { size?: number | undefined; token?: string | undefined },
): { items: readonly T[]; next: string | undefined } {
  const from = token === undefined ? 0 : Number(Buffer.from(token, 'base64url').toString('latin1'));
  if (!Number.isSafeInteger(from) || from < 0) throw new AwsError('InvalidNextToken', 'The token is not valid');
  if (size < 1) throw invalid('A page has at least one item');
  const to = from + Math.min(size, pageItems);
  const next = to < items.length ? Buffer.from(String(to), 'latin1').toString('base64url') : undefined;
  return { items: items.slice(from, to), next };
}

/** What a filter looks at, by its name. */
export type FilterFields<T> = Readonly<Record<string, (item: T) => readonly (string | undefined)[]>>;

const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.')}$`,
    's',
  );
const matcherOf = (wanted: string): ((value: string | undefined) => boolean) => {
  if (!/[*?]/.test(wanted)) return (value) => value === wanted;
  // Each star may match anything, so many of them would try everything.
  if ((wanted.match(/\*+/g) ?? []).length > 4) throw invalid(`The filter value '${wanted}' has too many wildcards`);
  const pattern = patternOf(wanted);
  return (value) => value !== undefined && pattern.test(value);
};

/** The items that all `Filter.N` let through: each one by any of its values. */
export function filtered<T extends { tags: Readonly<Record<string, string>> }>(
  items: readonly T[],
  parameters: Parameters,
  fields: FilterFields<T>,
): T[] {
  const filters = parameters.parts('Filter').map((filter) => {
    const name = filter.need('Name');
    const matchers = filter.list('Value').map(matcherOf);
    const values = fieldNamed(fields, name);
    return (item: T): boolean => values(item).some((value) => matchers.some((matches) => matches(value)));
  });
  return items.filter((item) => filters.every((passes) => passes(item)));
}

function fieldNamed<T extends { tags: Readonly<Record<string, string>> }>(
  fields: FilterFields<T>,
  name: string,
): (item: T) => readonly (string | undefined)[] {
  if (name.startsWith('tag:')) return ({ tags }) => [tags[name.slice(4)]];
  if (name === 'tag-key') return ({ tags }) => Object.keys(tags);
  if (name === 'tag-value') return ({ tags }) => Object.values(tags);
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field) throw invalid(`The filter '${name}' is invalid`);
  return field;
}
