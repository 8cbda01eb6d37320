// Stores of earlier versions lay in LMDB, without checksums. One that is found is read whole; once it has been written anew it is removed.
import { CorruptError } from '../../errors.ts';
import type { Change, LeaseGrant, StoreContents } from '../../mvcc/log.ts';
import { emptyValue } from '../../mvcc/record.ts';
import type { Disk } from '../disk.ts';
import { type LmdbRecord, lmdbRecords } from './lmdb-file.ts';

export interface OldStore {
  contents: StoreContents;
  /** Removes its files. */
  remove(): Promise<void>;
}

const dataFile = 'data.mdb';
const changeTag = 0x72; // r
const leaseTag = 0x6c; // l
const metaTag = 0x6d; // m
const changeHeadBytes = 32;
const deletedFlag = 1;
const lastFlag = 2;

/** Reads a store in an older format; undefined when there is none. Rejects with CorruptError when it cannot be read completely. */
export async function readOldStore(disk: Disk): Promise<OldStore | undefined> {
  const file = await disk.read(dataFile);
  if (!file) return undefined;
  const remove = async (): Promise<void> => {
    for (const name of [dataFile, `${dataFile}-lock`]) await disk.remove(name);
  };
  try {
    return { contents: decode(file), remove };
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof CorruptError)) throw error;
    const what = error instanceof CorruptError ? error.message : 'data.mdb is damaged: it cannot be read';
    throw new CorruptError(`store ${disk.path} is damaged: ${what}; nothing was changed`, { cause: error });
  }
}

interface Meta {
  revision: number;
  compactedRevision: number;
  historyStart: number;
}

function decode(file: Buffer): StoreContents {
  const changes: (Change & { last: boolean })[] = [];
  const leases: LeaseGrant[] = [];
  let meta: Meta | undefined;
  for (const record of lmdbRecords(file)) {
    const tag = record.key[0];
    if (tag === changeTag) changes.push(decodeChange(record));
    else if (tag === leaseTag) leases.push(decodeLease(record));
    else if (tag === metaTag) meta = decodeMeta(record.value);
  }
  if (!meta) throw damaged('meta');
  const { compactedRevision, historyStart } = meta;
  const revision = Math.max(meta.revision, changes.at(-1)?.kv.modRevision ?? 0);
  checkHistory(changes, historyStart, revision);
  return { revision, compactedRevision, historyStart, changes, leases };
}

function decodeChange({ key, value: record }: LmdbRecord): Change & { last: boolean } {
  if (key.length !== 13 || record.length < changeHeadBytes || record[0] !== 1) throw damaged('change');
  const valueStart = changeHeadBytes + record.readUInt32LE(4);
  if (valueStart > record.length) throw damaged('change');
  const flags = record[1] ?? 0;
  const kv = {
    key: record.toString('utf8', changeHeadBytes, valueStart),
    value: valueStart === record.length ? emptyValue : Buffer.from(record.subarray(valueStart)),
    createRevision: record.readDoubleLE(8),
    modRevision: Number(key.readBigUInt64BE(1)),
    version: record.readDoubleLE(16),
    lease: record.readDoubleLE(24),
  };
  return { kv, deleted: (flags & deletedFlag) !== 0, sub: key.readUInt32BE(9), last: (flags & lastFlag) !== 0 };
}

function decodeLease({ key, value }: LmdbRecord): LeaseGrant {
  if (key.length !== 9 || value.length !== 8) throw damaged('lease');
  return { id: Number(key.readBigUInt64BE(1)), ttlSeconds: value.readDoubleLE(0) };
}

function decodeMeta(value: Buffer): Meta {
  try {
    const { revision, compactedRevision, historyStart } = JSON.parse(value.toString()) as Partial<Meta>;
    if (typeof revision === 'number' && typeof compactedRevision === 'number' && typeof historyStart === 'number') {
      return { revision, compactedRevision, historyStart };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw damaged('meta');
}

const damaged = (what: string): CorruptError => new CorruptError(`data.mdb has a damaged ${what} record`);

/** Every revision since `historyStart` must be there, whole. */
function checkHistory(changes: readonly (Change & { last: boolean })[], historyStart: number, revision: number): void {
  let complete = historyStart - 1;
  for (const { kv, last } of changes) {
    if (kv.modRevision < historyStart) continue;
    if (kv.modRevision !== complete + 1) break;
    if (last) complete++;
  }
  if (complete < revision && revision >= historyStart) throw new CorruptError(`data.mdb has no whole revision ${complete + 1}`);
}
