// Lists of the APIs: pages by a marker, which is the ID that the page begins with, and up to maxKeys items.
import type { VendorAnswer, VendorRequest } from 'sagong/cloud-provider/test-server';
import { invalid } from './refusals.ts';

const maxKeysMax = 1_000;

/** One page in the order of the keys. */
export function listAnswer<Item extends object>(
  field: string,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { url }: VendorRequest,
): VendorAnswer {
  const marker = url.searchParams.get('marker') ?? '';
  const maxKeys = Number(url.searchParams.get('maxKeys') || maxKeysMax);
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > maxKeysMax) throw invalid('maxKeys');
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).filter((item) => keyOf(item) >= marker);
  const [page, next] = [sorted.slice(0, maxKeys), sorted[maxKeys]];
  return {
    body: {
      marker,
      maxKeys,
      isTruncated: next !== undefined,
      ...(next !== undefined && { nextMarker: keyOf(next) }),
      [field]: page,
    },
  };
}
