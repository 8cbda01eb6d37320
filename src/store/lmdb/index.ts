// The embedded durable store: the MVCC core over LMDB.
import { chmod } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ensureDir, systemClock } from '#host';
import type { Clock, Logger } from '#utils';
import { silentLogger } from '#utils';
import { mapBytes as defaultMapBytes } from '../limits.ts';
import { MvccStore } from '../mvcc/mvcc-store.ts';
import type { RevisionLog } from '../mvcc/log.ts';
import { contentsOf } from '../snapshot.ts';
import type { EmbeddedStore, StoreSnapshot } from '../types.ts';
import { LmdbLog } from './lmdb-log.ts';
import { lockDirectory } from './lock.ts';
import type { DirectoryLock } from './lock.ts';

export interface LmdbStoreOptions {
  /** Directory of the store; made (mode 0700) when missing. */
  path: string;
  /** Drives lease expiry. Default: the machine's clock. */
  clock?: Clock;
  logger?: Logger;
  /** Begin with this state (restore, fork); only where no store is yet. */
  snapshot?: StoreSnapshot;
  /** Most that the file can grow to. Default 64 GiB of address space, on disk only what is used. */
  mapBytes?: number;
}

/** Rejects with LockedError when the store is open already, with CorruptError when it cannot be read. */
export async function open(options: LmdbStoreOptions): Promise<EmbeddedStore> {
  const { clock = systemClock(), logger = silentLogger, mapBytes = defaultMapBytes } = options;
  const path = resolve(options.path);
  await ensureDir(path);
  await chmod(path, 0o700);
  const lock = await lockDirectory(path);
  try {
    const { log, contents } = await LmdbLog.open(path, contentsOf(options.snapshot), mapBytes);
    return new MvccStore({ kind: 'lmdb', contents, log: unlocking(log, lock), clock, logger });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

const unlocking = (log: RevisionLog, lock: DirectoryLock): RevisionLog => ({
  append: (batch) => log.append(batch),
  bytes: () => log.bytes(),
  close: async () => {
    await log.close();
    await lock.release();
  },
});
