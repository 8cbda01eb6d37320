// Lists in pages, by an opaque token that leads to the next one or by page numbers.

/** One page, and the token of the next; a token is worthless once it is misspelt. Throws `RangeError` then. */
export function pageByToken<Item>(
  items: readonly Item[],
  token: string | null | undefined,
  pageItems: number,
): { items: Item[]; next?: string } {
  const from = token
    ? Number(
        Buffer.from(token, 'base64url')
          .toString('utf8')
          .replace(/^from:/, ''),
      )
    : 0;
  if (!Number.isInteger(from) || from < 0) throw new RangeError(`not a page token: ${token}`);
  const end = from + pageItems;
  return {
    items: items.slice(from, end),
    ...(end < items.length && { next: Buffer.from(`from:${end}`).toString('base64url') }),
  };
}

/** One page, counted from 1, and how many there are. */
export function pageByNumber<Item>(items: readonly Item[], page: number, pageItems: number): { items: Item[]; pages: number } {
  return {
    items: items.slice((page - 1) * pageItems, page * pageItems),
    pages: Math.max(1, Math.ceil(items.length / pageItems)),
  };
}
