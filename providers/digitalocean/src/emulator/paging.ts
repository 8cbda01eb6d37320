// Lists in pages ("Links & Pagination" of the reference): 20 at a time unless asked otherwise, 200 at most, links only where they lead anywhere.
import { unprocessable } from './refusal.ts';

function countIn(query: URLSearchParams, name: string, otherwise: number, max: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max) throw unprocessable(`${name} must be between 1 and ${max}`);
  return value;
}

/** The body of a list: `{ [root]: items of the page, links, meta }`. */
export function pageOf(root: string, items: readonly unknown[], url: URL): Record<string, unknown> {
  const perPage = countIn(url.searchParams, 'per_page', 20, 200);
  const page = countIn(url.searchParams, 'page', 1, Number.MAX_SAFE_INTEGER);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const at = (number: number): string => {
    const link = new URL(url);
    link.searchParams.set('page', String(number));
    return link.href;
  };
  const pages = {
    ...(page > 1 && { first: at(1), prev: at(Math.min(page - 1, last)) }),
    ...(page < last && { next: at(page + 1), last: at(last) }),
  };
  return {
    [root]: items.slice((page - 1) * perPage, page * perPage),
    links: Object.keys(pages).length > 0 ? { pages } : {},
    meta: { total: items.length },
  };
}
