// Writes a bbolt file front to back. Where every page goes follows from the sizes of the entries, so nothing is held but the list of them, and
// values are encoded as their page's turn comes.
import {
  bucketFlag,
  bucketHeadBytes,
  elementBytes,
  encodeMeta,
  flags,
  type Meta,
  pageBytes,
  pageHeadBytes,
  writePageHead,
} from './bolt-file.ts';

/** Entries of a bucket come in the order of their keys' bytes. */
export interface BoltEntry {
  keyBytes: number;
  valueBytes: number;
  key(): Buffer;
  value(): Buffer;
}

export interface BoltBucket {
  name: string;
  entries: readonly BoltEntry[];
}

interface PlannedPage {
  id: number;
  overflow: number;
  flags: number;
  /** The first entry of a leaf, or the first page below a branch. */
  from: number;
  to: number;
}

interface Tree {
  /** All pages, level by level, leaves first. */
  levels: PlannedPage[][];
  root: number;
}

const countMax = 0xffff;

/** The whole file in pieces. Buckets come in the order of their names. */
export function* boltFile(buckets: readonly BoltBucket[]): Generator<Buffer> {
  let next = 3;
  const take = (pages: number): number => {
    next += pages;
    return next - pages;
  };
  const trees = buckets.map(({ entries }) => planTree(entries, take));
  const roots = buckets.map(
    ({ name, entries }, i): BoltEntry => bucketEntry(name, entries.length === 0 ? 0 : (trees[i]?.root ?? 0)),
  );
  const top = planTree(roots, take);
  const meta: Meta = { pageBytes, root: top.root, freelist: 2, pages: next, transaction: 0 };
  yield encodeMeta(0, meta);
  yield encodeMeta(1, { ...meta, transaction: 1 });
  yield emptyPage(2, flags.freelist);
  for (const [i, { entries }] of buckets.entries()) yield* pagesOf(trees[i] as Tree, entries, 0);
  yield* pagesOf(top, roots, bucketFlag);
}

function emptyPage(id: number, kind: number): Buffer {
  const page = Buffer.alloc(pageBytes);
  writePageHead(page, 0, { id, flags: kind, count: 0, overflow: 0 });
  return page;
}

/** A bucket without entries lies in its own entry, as an empty page without a place. */
function bucketEntry(name: string, root: number): BoltEntry {
  const value = Buffer.alloc(root === 0 ? bucketHeadBytes + pageHeadBytes : bucketHeadBytes);
  value.writeBigUInt64LE(BigInt(root), 0);
  if (root === 0) writePageHead(value, bucketHeadBytes, { id: 0, flags: flags.leaf, count: 0, overflow: 0 });
  const key = Buffer.from(name);
  return { keyBytes: key.length, valueBytes: value.length, key: () => key, value: () => value };
}

function planTree(entries: readonly BoltEntry[], take: (pages: number) => number): Tree {
  const leaves = planLevel(entries.length, (i) => (entries[i]?.keyBytes ?? 0) + (entries[i]?.valueBytes ?? 0), flags.leaf, take);
  const levels = [leaves];
  for (let below = leaves; below.length > 1; ) {
    const under = below;
    below = planLevel(under.length, (i) => keyBytesOf(levels, levels.length - 1, i, entries), flags.branch, take);
    levels.push(below);
  }
  return { levels, root: levels.at(-1)?.[0]?.id ?? 0 };
}

function planLevel(count: number, bytesOf: (i: number) => number, kind: number, take: (pages: number) => number): PlannedPage[] {
  const pages: PlannedPage[] = [];
  for (let from = 0; from < count; ) {
    let bytes = pageHeadBytes + elementBytes + bytesOf(from);
    let to = from + 1;
    for (; to < count && to - from < countMax; to++) {
      const more = elementBytes + bytesOf(to);
      if (bytes + more > pageBytes) break;
      bytes += more;
    }
    const size = Math.ceil(bytes / pageBytes);
    pages.push({ id: take(size), overflow: size - 1, flags: kind, from, to });
    from = to;
  }
  return pages;
}

/** The first entry below a page. */
function firstEntry(levels: readonly PlannedPage[][], level: number, page: number): number {
  const from = levels[level]?.[page]?.from ?? 0;
  return level === 0 ? from : firstEntry(levels, level - 1, from);
}

const keyBytesOf = (levels: readonly PlannedPage[][], level: number, page: number, entries: readonly BoltEntry[]): number =>
  entries[firstEntry(levels, level, page)]?.keyBytes ?? 0;

function* pagesOf({ levels }: Tree, entries: readonly BoltEntry[], elementFlags: number): Generator<Buffer> {
  for (const [level, pages] of levels.entries()) {
    for (const page of pages) {
      yield level === 0 ? leafPage(page, entries, elementFlags) : branchPage(page, level, levels, entries);
    }
  }
}

function blankPage({ id, overflow, flags: kind, from, to }: PlannedPage): Buffer {
  const bytes = Buffer.alloc((1 + overflow) * pageBytes);
  writePageHead(bytes, 0, { id, flags: kind, count: to - from, overflow });
  return bytes;
}

function leafPage(page: PlannedPage, entries: readonly BoltEntry[], elementFlags: number): Buffer {
  const bytes = blankPage(page);
  let at = pageHeadBytes + (page.to - page.from) * elementBytes;
  for (let i = page.from; i < page.to; i++) {
    const { keyBytes, valueBytes, key, value } = entries[i] as BoltEntry;
    const element = pageHeadBytes + (i - page.from) * elementBytes;
    bytes.writeUInt32LE(elementFlags, element);
    bytes.writeUInt32LE(at - element, element + 4);
    bytes.writeUInt32LE(keyBytes, element + 8);
    bytes.writeUInt32LE(valueBytes, element + 12);
    bytes.set(key(), at);
    bytes.set(value(), at + keyBytes);
    at += keyBytes + valueBytes;
  }
  return bytes;
}

function branchPage(page: PlannedPage, level: number, levels: readonly PlannedPage[][], entries: readonly BoltEntry[]): Buffer {
  const bytes = blankPage(page);
  let at = pageHeadBytes + (page.to - page.from) * elementBytes;
  for (let i = page.from; i < page.to; i++) {
    const key = (entries[firstEntry(levels, level - 1, i)] as BoltEntry).key();
    const element = pageHeadBytes + (i - page.from) * elementBytes;
    bytes.writeUInt32LE(at - element, element);
    bytes.writeUInt32LE(key.length, element + 4);
    bytes.writeBigUInt64LE(BigInt(levels[level - 1]?.[i]?.id ?? 0), element + 8);
    bytes.set(key, at);
    at += key.length;
  }
  return bytes;
}
