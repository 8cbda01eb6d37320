// Reads a data file of LMDB (https://www.symas.com/lmdb) as npm's `lmdb` wrote it for earlier versions of this store: the records of its
// main database in key order. Only that, and by looking at bytes: whatever is wrong with the file is an error and never more.
import { CorruptError } from '../../errors.ts';

const magic = 0xbeefc0de;
const dataVersion = 2;
const pageHeadBytes = 24;
const metaFlag = 0x08;
const branchFlag = 0x01;
const leafFlag = 0x02;
const overflowFlag = 0x04;
const bigDataFlag = 0x01;
const noPage = 2 ** 64;
const depthMax = 32;

export interface LmdbRecord {
  key: Buffer;
  value: Buffer;
}

interface Meta {
  pageBytes: number;
  root: number;
  transaction: number;
}

const damaged = (what: string): CorruptError => new CorruptError(`data.mdb is damaged: ${what}`);

/** The records are views into `file`. Throws CorruptError. */
export function* lmdbRecords(file: Buffer): Generator<LmdbRecord> {
  const { pageBytes, root } = newestMeta(file);
  if (root < noPage) yield* recordsBelow(file, pageBytes, root, 0);
}

/** Two pages hold where everything begins, written in turn: the newer one counts. */
function newestMeta(file: Buffer): Meta {
  const first = metaAt(file, 0);
  const second = metaAt(file, first?.pageBytes ?? guessPageBytes(file));
  const metas = [first, second].filter((meta) => meta !== undefined).sort((a, b) => b.transaction - a.transaction);
  if (!metas[0]) throw damaged('its first pages cannot be read');
  return metas[0];
}

function guessPageBytes(file: Buffer): number {
  for (let size = 4096; size <= 65536; size *= 2) if (metaAt(file, size)?.pageBytes === size) return size;
  return 4096;
}

function metaAt(file: Buffer, at: number): Meta | undefined {
  const start = at + pageHeadBytes;
  if (start + 136 > file.length || (file.readUInt16LE(at + 18) & metaFlag) === 0) return undefined;
  if (file.readUInt32LE(start) !== magic || file.readUInt32LE(start + 4) !== dataVersion) return undefined;
  const pageBytes = file.readUInt32LE(start + 24);
  if (pageBytes < 512 || pageBytes > 65536 || (pageBytes & (pageBytes - 1)) !== 0) return undefined;
  return { pageBytes, root: readNumber(file, start + 112), transaction: readNumber(file, start + 128) };
}

function* recordsBelow(file: Buffer, pageBytes: number, page: number, depth: number): Generator<LmdbRecord> {
  const start = page * pageBytes;
  if (depth > depthMax || start + pageBytes > file.length) throw damaged(`page ${page} is not there`);
  const flags = file.readUInt16LE(start + 18);
  const nodes = file.readUInt16LE(start + 20) >> 1;
  if ((flags & (branchFlag | leafFlag)) === 0 || pageHeadBytes + 2 * nodes > pageBytes)
    throw damaged(`page ${page} cannot be read`);
  for (let i = 0; i < nodes; i++) {
    const node = start + pageHeadBytes + file.readUInt16LE(start + pageHeadBytes + 2 * i);
    if (node + 8 > start + pageBytes) throw damaged(`page ${page} cannot be read`);
    if ((flags & branchFlag) !== 0) {
      const child = file.readUInt16LE(node) + file.readUInt16LE(node + 2) * 2 ** 16 + file.readUInt16LE(node + 4) * 2 ** 32;
      yield* recordsBelow(file, pageBytes, child, depth + 1);
    } else yield leafRecord(file, pageBytes, node, start + pageBytes);
  }
}

function leafRecord(file: Buffer, pageBytes: number, node: number, pageEnd: number): LmdbRecord {
  const size = file.readUInt16LE(node) + file.readUInt16LE(node + 2) * 2 ** 16;
  const big = (file.readUInt16LE(node + 4) & bigDataFlag) !== 0;
  const keyStart = node + 8;
  const dataStart = keyStart + file.readUInt16LE(node + 6);
  if (dataStart + (big ? 8 : size) > pageEnd) throw damaged('a record reaches over the end of its page');
  const key = file.subarray(keyStart, dataStart);
  if (!big) return { key, value: file.subarray(dataStart, dataStart + size) };
  const page = readNumber(file, dataStart) * pageBytes;
  const value = page + pageHeadBytes;
  if (value + size > file.length || (file.readUInt16LE(page + 18) & overflowFlag) === 0) {
    throw damaged('the pages of a large record are not there');
  }
  return { key, value: file.subarray(value, value + size) };
}

const readNumber = (file: Buffer, at: number): number => Number(file.readBigUInt64LE(at));
