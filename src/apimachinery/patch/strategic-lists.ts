// Lists in strategic merge patches: items matched by a merge key (or by value), deletions by directive, and the order of the result.
import { own } from '#utils';
import { plainError } from '../errors/index.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { listOfLists, mixedTypes, noMergeKey, orderMismatch, unknownDirective, wrongType } from './strategic-errors.ts';

/** How items of one list are matched: by this key, or by value when it is ''. */
export type MergeKey = string;

export const directive = '$patch';

const keyOf = (item: Json, mergeKey: MergeKey): Json =>
  mergeKey === '' ? item : isObject(item) ? own(item, mergeKey) : undefined;

function requireKey(item: Json, mergeKey: MergeKey): Json {
  if (mergeKey === '') return item;
  if (!isObject(item)) throw wrongType({}, item);
  const key = own(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

const kindOf = (value: Json): string => (Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value);

/** What all items are: 'map' or a scalar kind. Lists of lists and mixtures cannot be merged. */
export function itemKind(...lists: readonly (readonly Json[])[]): string {
  let kind: string | undefined;
  for (const item of lists.flat()) {
    kind ??= kindOf(item);
    if (kind === 'list') throw listOfLists();
    if (kind !== kindOf(item)) throw mixedTypes(lists);
  }
  if (kind === undefined) throw plainError('no elements in any of the given slices');
  return kind;
}

const positions = (list: readonly Json[], mergeKey: MergeKey): Map<Json, number> => {
  const map = new Map<Json, number>();
  list.forEach((item, i) => {
    const key = keyOf(item, mergeKey);
    if (!map.has(key)) map.set(key, i);
  });
  return map;
};

const sortedBy = (items: readonly Json[], order: ReadonlyMap<Json, number>, mergeKey: MergeKey): Json[] => {
  const place = (item: Json): number => order.get(keyOf(item, mergeKey)) ?? -1;
  return [...items].sort((a, b) => place(a) - place(b));
};

/**
 * Items named in `order` come in that order; the others keep the server's order, each standing before the first ordered item that followed
 * it on the server.
 */
export function arrange(merged: readonly Json[], order: readonly Json[], server: readonly Json[], mergeKey: MergeKey): Json[] {
  for (const item of [...merged, ...order]) requireKey(item, mergeKey);
  const orderPlaces = positions(order, mergeKey);
  const serverPlaces = positions(server, mergeKey);
  const isOrdered = (item: Json): boolean => orderPlaces.has(keyOf(item, mergeKey));
  const ordered = sortedBy(merged.filter(isOrdered), orderPlaces, mergeKey);
  const others = sortedBy(
    merged.filter((item) => !isOrdered(item)),
    serverPlaces,
    mergeKey,
  );
  const out: Json[] = [];
  let i = 0;
  let j = 0;
  while (i < others.length && j < ordered.length) {
    const other = serverPlaces.get(keyOf(others[i], mergeKey));
    const next = serverPlaces.get(keyOf(ordered[j], mergeKey));
    if (other !== undefined && next !== undefined && other < next) out.push(others[i++]);
    else out.push(ordered[j++]);
  }
  return [...out, ...others.slice(i), ...ordered.slice(j)];
}

/** Merges lists of scalars: every value once. */
export const mergeScalars = (original: readonly Json[], patch: readonly Json[]): Json[] =>
  arrange([...new Set([...original, ...patch])], patch, original, '');

/** Merges lists of objects. `mergeItem` merges one matched pair. */
export function mergeItems(
  original: readonly Json[],
  patch: readonly Json[],
  mergeKey: MergeKey,
  mergeItem: (original: JsonObject, patch: JsonObject) => Json,
): Json[] {
  const plain: JsonObject[] = [];
  const deleted = new Set<Json>();
  let replace = false;
  for (const item of patch) {
    if (!isObject(item)) throw wrongType({}, item);
    const wanted = own(item, directive);
    if (wanted === undefined) plain.push(item);
    else if (wanted === 'replace') replace = true;
    else if (wanted === 'delete') {
      deleted.add(requireKey(item, mergeKey));
    } else if (wanted === 'merge') throw plainError('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(wanted, item);
  }
  if (replace) return arrange(plain, [], plain, mergeKey);
  const base = deleted.size === 0 ? original : original.filter((one) => !deleted.has(keyOf(one, mergeKey)));
  const merged = [...base];
  const places = positions(merged, mergeKey);
  for (const item of plain) {
    const key = requireKey(item, mergeKey);
    const at = places.get(key);
    const match = at === undefined ? undefined : merged[at];
    if (at === undefined) places.set(key, merged.push(item) - 1);
    else merged[at] = isObject(match) ? mergeItem(match, item) : item;
  }
  return arrange(merged, plain, base, mergeKey);
}

/** The patched items must come in the order the patch asks for, and all be named in it. */
export function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: MergeKey): void {
  if (patch.length === 0 || order.length === 0) return;
  const named = patch.filter((item) => !(isObject(item) && Object.hasOwn(item, directive)));
  let at = 0;
  for (const item of order) {
    if (at < named.length && requireKey(named[at], mergeKey) === requireKey(item, mergeKey)) at++;
  }
  if (at < named.length) throw orderMismatch(patch, order);
}
