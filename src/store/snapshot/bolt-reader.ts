// Reads the buckets of a bbolt file. The file comes from outside: whatever is wrong with it is an error that says so.
import { CorruptError } from '../errors.ts';
import { bucketFlag, bucketHeadBytes, decodeMeta, elementBytes, flags, pageHeadBytes, readPageHead } from './bolt-file.ts';

export interface ReadEntry {
  key: Buffer;
  value: Buffer;
}

const depthMax = 32;

/** The buckets by name, in order; their entries are views into `file`. Throws CorruptError. */
export function* boltBuckets(file: Buffer): Generator<{ name: string; entries: Iterable<ReadEntry> }> {
  const reader = new BoltReader(file);
  for (const { key, value, flags: kind } of reader.entries(reader.root)) {
    if (kind !== bucketFlag || value.length < bucketHeadBytes) throw damaged('it holds something that is no bucket');
    const root = Number(value.readBigUInt64LE(0));
    const entries = root === 0 ? reader.elements(value, bucketHeadBytes, value.length, 0) : reader.entries(root);
    yield { name: key.toString(), entries };
  }
}

const damaged = (what: string): CorruptError => new CorruptError(`the snapshot is damaged: ${what}`);

class BoltReader {
  readonly root: number;
  readonly #file: Buffer;
  readonly #pageBytes: number;
  readonly #seen = new Set<number>();

  constructor(file: Buffer) {
    const first = decodeMeta(file, 0);
    const second = decodeMeta(file, first?.pageBytes ?? 4096);
    const metas = [first, second].filter((meta) => meta !== undefined).sort((a, b) => b.transaction - a.transaction);
    const [meta] = metas;
    if (!meta || meta.pageBytes < 512) throw damaged('its first pages cannot be read; is it a snapshot of etcd?');
    this.#file = file;
    this.#pageBytes = meta.pageBytes;
    this.root = meta.root;
  }

  *entries(page: number, depth = 0): Generator<ReadEntry & { flags: number }> {
    const start = page * this.#pageBytes;
    if (this.#seen.has(page)) throw damaged(`page ${page} is in it twice`);
    this.#seen.add(page);
    if (depth > depthMax || !(start + this.#pageBytes <= this.#file.length)) throw damaged(`page ${page} is not there`);
    const head = readPageHead(this.#file, start);
    const end = start + (1 + head.overflow) * this.#pageBytes;
    if (head.id !== page || end > this.#file.length) throw damaged(`page ${page} cannot be read`);
    yield* this.elements(this.#file, start, end, depth);
  }

  /** What the page that lies in `bytes` from `start` to `end` holds, and those below it. */
  *elements(bytes: Buffer, start: number, end: number, depth: number): Generator<ReadEntry & { flags: number }> {
    const { flags: kind, count } = readPageHead(bytes, start);
    if (start + pageHeadBytes + count * elementBytes > end) throw damaged('a page reaches over its end');
    for (let i = 0; i < count; i++) {
      const at = start + pageHeadBytes + i * elementBytes;
      if (kind === flags.branch) yield* this.entries(Number(bytes.readBigUInt64LE(at + 8)), depth + 1);
      else if (kind === flags.leaf) yield leafElement(bytes, at, end);
      else throw damaged('a page is neither leaf nor branch');
    }
  }
}

function leafElement(bytes: Buffer, at: number, end: number): ReadEntry & { flags: number } {
  const keyAt = at + bytes.readUInt32LE(at + 4);
  const valueAt = keyAt + bytes.readUInt32LE(at + 8);
  const valueEnd = valueAt + bytes.readUInt32LE(at + 12);
  if (valueEnd > end) throw damaged('an entry reaches over the end of its page');
  return { flags: bytes.readUInt32LE(at), key: bytes.subarray(keyAt, valueAt), value: bytes.subarray(valueAt, valueEnd) };
}
