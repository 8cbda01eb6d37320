// The embedded durable store: the MVCC core over a log of its own.
import { chmod } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ensureDir, systemClock } from '#host';
import type { Clock, Logger } from '#utils';
import { silentLogger } from '#utils';
import { quotaBytesDefault } from '../limits.ts';
import { MvccStore } from '../mvcc/mvcc-store.ts';
import { contentsOf } from '../snapshot/contents.ts';
import type { EmbeddedStore, StoreSnapshot } from '../types.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { lockDirectory } from './lock.ts';
import { openLog } from './open-log.ts';

export interface DiskStoreOptions {
  /** Directory of the store; made (mode 0700) when missing. */
  path: string;
  /** Drives lease expiry. Default: the machine's clock. */
  clock?: Clock;
  logger?: Logger;
  /** Begin with this state (restore, fork); only where no store is yet. */
  snapshot?: StoreSnapshot;
  /** A store was here before: finding none is damage, and not the beginning of a new one. */
  mustExist?: boolean;
  /** What the data may grow to before writes are refused. Default 8 GiB. */
  quotaBytes?: number;
  /** Waits for no disk: for tests, whose data nobody misses. */
  unsafeNoFsync?: boolean;
}

/** Rejects with LockedError when the store is open already, with CorruptError when it is damaged. */
export async function open(options: DiskStoreOptions): Promise<EmbeddedStore> {
  const path = resolve(options.path);
  await ensureDir(path);
  await chmod(path, 0o700);
  const lock = await lockDirectory(path);
  try {
    return await openOn(nodeDisk(path, options), options, () => lock.release());
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Opens a store on any disk. `release` runs when the store was closed. */
export async function openOn(
  disk: Disk,
  options: Omit<DiskStoreOptions, 'path'>,
  release: () => Promise<void> = async () => {},
): Promise<EmbeddedStore> {
  const { clock = systemClock(), logger = silentLogger, quotaBytes = quotaBytesDefault, mustExist = false } = options;
  const initial = options.snapshot && contentsOf(options.snapshot);
  const { log, contents } = await openLog({ disk, clock, logger, quotaBytes, mustExist, initial, release });
  return new MvccStore({ kind: 'disk', contents, log, clock, logger });
}
