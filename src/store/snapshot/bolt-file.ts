// The file format of bbolt (go.etcd.io/bbolt), which etcd keeps its data and its snapshots in: a tree of pages for each bucket. Only whole
// files are written and read here, from the first page to the last; nothing is ever changed in place.

export const pageBytes = 4096;
export const pageHeadBytes = 16;
export const elementBytes = 16;
export const bucketHeadBytes = 16;
export const magic = 0xed0cdaed;
export const formatVersion = 2;
export const flags = { branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 } as const;
/** The flag of a leaf's element whose value is a bucket. */
export const bucketFlag = 1;

/** FNV-1a of 64 bits: what the checksum of a meta page is. */
export function fnv64(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

export interface Meta {
  pageBytes: number;
  /** First page of the bucket of buckets. */
  root: number;
  freelist: number;
  /** Number of pages. */
  pages: number;
  transaction: number;
}

const metaBytes = 64;

export function encodeMeta(id: number, meta: Meta): Buffer {
  const page = Buffer.alloc(meta.pageBytes);
  writePageHead(page, 0, { id, flags: flags.meta, count: 0, overflow: 0 });
  const body = page.subarray(pageHeadBytes, pageHeadBytes + metaBytes);
  body.writeUInt32LE(magic, 0);
  body.writeUInt32LE(formatVersion, 4);
  body.writeUInt32LE(meta.pageBytes, 8);
  body.writeBigUInt64LE(BigInt(meta.root), 16);
  body.writeBigUInt64LE(BigInt(meta.freelist), 32);
  body.writeBigUInt64LE(BigInt(meta.pages), 40);
  body.writeBigUInt64LE(BigInt(meta.transaction), 48);
  body.writeBigUInt64LE(fnv64(body.subarray(0, 56)), 56);
  return page;
}

/** Reads the meta page at `at`; undefined where there is no whole one. */
export function decodeMeta(file: Buffer, at: number): Meta | undefined {
  const start = at + pageHeadBytes;
  if (start + metaBytes > file.length) return undefined;
  const body = file.subarray(start, start + metaBytes);
  if (body.readUInt32LE(0) !== magic || body.readUInt32LE(4) !== formatVersion) return undefined;
  if (body.readBigUInt64LE(56) !== fnv64(body.subarray(0, 56))) return undefined;
  const number = (offset: number): number => Number(body.readBigUInt64LE(offset));
  return { pageBytes: body.readUInt32LE(8), root: number(16), freelist: number(32), pages: number(40), transaction: number(48) };
}

export interface PageHead {
  id: number;
  flags: number;
  count: number;
  /** Pages that follow and belong to it. */
  overflow: number;
}

export function writePageHead(target: Buffer, at: number, head: PageHead): void {
  target.writeBigUInt64LE(BigInt(head.id), at);
  target.writeUInt16LE(head.flags, at + 8);
  target.writeUInt16LE(head.count, at + 10);
  target.writeUInt32LE(head.overflow, at + 12);
}

export const readPageHead = (source: Buffer, at: number): PageHead => ({
  id: Number(source.readBigUInt64LE(at)),
  flags: source.readUInt16LE(at + 8),
  count: source.readUInt16LE(at + 10),
  overflow: source.readUInt32LE(at + 12),
});
