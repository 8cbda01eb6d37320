// The durable log on LMDB (https://www.symas.com/lmdb, npm `lmdb`). A batch is one LMDB transaction: after a crash it is there whole or
// not at all, and `append` resolves only after fdatasync. LMDB is never read after the start: it does not see writes still queued.
import { statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { CorruptError } from '../errors.ts';
import { pageBytes, readSlabBytes } from '../limits.ts';
import type { Change, LeaseGrant, LogBatch, RevisionLog, StoreContents } from '../mvcc/log.ts';
import {
  changeKey,
  changeKeys,
  decodeChange,
  decodeLease,
  decodeMeta,
  encodeChange,
  encodeLease,
  encodeMeta,
  leaseKey,
  leaseKeys,
  metaKey,
} from './encoding.ts';
import type { StoreMeta } from './encoding.ts';

type Database = RootDatabase<Buffer, Buffer>;

export class LmdbLog implements RevisionLog {
  readonly #db: Database;
  readonly #path: string;
  #meta: StoreMeta;

  private constructor(db: Database, path: string, meta: StoreMeta) {
    this.#db = db;
    this.#path = path;
    this.#meta = meta;
  }

  /**
   * Opens or makes the log in `directory`. A new one begins with `initial`; CorruptError when `initial` is not empty but the log is
   * not new either.
   */
  static async open(
    directory: string,
    initial: StoreContents,
    mapBytes: number,
  ): Promise<{ log: LmdbLog; contents: StoreContents }> {
    const path = join(directory, 'data.mdb');
    const db: Database = open<Buffer, Buffer>(databaseOptions(path, mapBytes));
    try {
      await Promise.all([chmod(path, 0o600), chmod(`${path}-lock`, 0o600)]);
      const meta = await readOrMakeMeta(db, initial);
      const log = new LmdbLog(db, path, meta);
      return { log, contents: readContents(db, meta) };
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  append(batch: LogBatch): Promise<void> {
    if (batch.compactedRevision > 0) {
      const { compactedRevision } = batch;
      this.#meta = { ...this.#meta, compactedRevision, historyStart: compactedRevision };
    }
    return commit(this.#db, () => {
      for (const change of batch.changes) {
        void this.#db.put(changeKey({ revision: change.kv.modRevision, sub: change.sub }), encodeChange(change));
      }
      for (const lease of batch.granted) void this.#db.put(leaseKey(lease.id), encodeLease(lease));
      for (const id of batch.revoked) void this.#db.remove(leaseKey(id));
      for (const id of batch.dead) void this.#db.remove(changeKey(id));
      if (batch.compactedRevision > 0) void this.#db.put(metaKey, encodeMeta(this.#meta));
    });
  }

  bytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function databaseOptions(path: string, mapBytes: number) {
  const options = {
    path,
    noSubdir: true,
    encoder: slabEncoder(),
    keyEncoding: 'binary' as const,
    pageSize: pageBytes,
    mapSize: mapBytes,
    maxDbs: 1,
    cache: false,
    // Batches are made here; the turn batches of lmdb would reject a promise that nobody holds when a commit fails.
    eventTurnBatching: false,
    // The plain commit: flushed when it returns. With overlapping flushes a store whose commit failed could not even be closed.
    overlappingSync: false,
    remapChunks: false,
  };
  return options;
}

/**
 * Values are buffers as they are. Those read, all at the start, are copied into large slabs: one allocation each would make up most
 * of the starting time of a large store.
 */
function slabEncoder() {
  let slab = Buffer.alloc(0);
  let used = 0;
  const decode = (source: Buffer, size: number = source.length): Buffer => {
    if (used + size > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.max(size, readSlabBytes));
      used = 0;
    }
    const copy = slab.subarray(used, used + size);
    // `source` may be lmdb's reused buffer, which is longer than the value and lies about its length.
    copy.set(new Uint8Array(source.buffer, source.byteOffset, size));
    used += size;
    return copy;
  };
  return { encode: (value: Buffer): Buffer => value, decode };
}

/** Runs `writes` as one transaction; resolves when it is flushed. The writes inside report nothing of their own. */
async function commit(db: Database, writes: () => void): Promise<void> {
  try {
    await db.batch(writes);
  } catch (error) {
    // The reason comes in a second promise, which nobody else looks at.
    const reason: unknown = (error as { commitError?: Promise<never> }).commitError;
    throw reason === undefined ? error : await Promise.resolve(reason).catch((cause: unknown) => cause);
  }
}

async function readOrMakeMeta(db: Database, initial: StoreContents): Promise<StoreMeta> {
  const found = db.get(metaKey);
  if (found) {
    if (initial.revision > 1) throw new CorruptError('a snapshot can only be restored into an empty store');
    return decodeMeta(found);
  }
  const { revision, compactedRevision, historyStart } = initial;
  const meta: StoreMeta = { format: 1, revision, compactedRevision, historyStart };
  // Without meta a restore was cut short, and nobody was told that it was done: begin again.
  await db.clearAsync();
  await commit(db, () => {
    for (const change of initial.changes) {
      const id = { revision: change.kv.modRevision, sub: change.sub };
      void db.put(changeKey(id), encodeChange({ ...change, last: true }));
    }
    for (const lease of initial.leases) void db.put(leaseKey(lease.id), encodeLease(lease));
    void db.put(metaKey, encodeMeta(meta));
  });
  return meta;
}

function readContents(db: Database, meta: StoreMeta): StoreContents {
  const changes: Change[] = [];
  for (const { key, value } of db.getRange(changeKeys)) changes.push(decodeChange(key, value));
  const leases: LeaseGrant[] = [];
  for (const { key, value } of db.getRange(leaseKeys)) leases.push(decodeLease(key, value));
  const revision = Math.max(meta.revision, changes[changes.length - 1]?.kv.modRevision ?? 0);
  checkHistory(changes, meta.historyStart, revision);
  const { compactedRevision, historyStart } = meta;
  return { revision, compactedRevision, historyStart, changes, leases };
}

/** Every revision since `historyStart` must be there, whole. */
function checkHistory(changes: readonly Change[], historyStart: number, revision: number): void {
  let complete = historyStart - 1;
  for (const { kv, last } of changes) {
    if (kv.modRevision < historyStart) continue;
    if (kv.modRevision !== complete + 1) throw new CorruptError(`store has no whole revision ${complete + 1}`);
    if (last) complete++;
  }
  if (complete < revision && revision >= historyStart) throw new CorruptError(`store has no whole revision ${complete + 1}`);
}
