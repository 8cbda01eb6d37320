// What can be done with a store's files while nobody has it open, or beside the one who has: look for damage, read it, begin it anew.
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ensureDir, syncDir, systemClock } from '#host';
import { silentLogger } from '#utils';
import { CorruptError, LockedError } from '../errors.ts';
import { checkReadsMax, quotaBytesDefault } from '../limits.ts';
import { aheadOf } from '../snapshot/ahead.ts';
import { decodeSnapshot } from '../snapshot/index.ts';
import type { StoreContents } from '../types.ts';
import { nodeDisk } from './disk.ts';
import { segmentName } from './format.ts';
import { lockDirectory, lockHolder, lockName } from './lock.ts';
import { describeDamage, openLog } from './open-log.ts';
import { type Found, findStore, type Recovery } from './recover.ts';
import type { Damage } from './scan.ts';
import { readOldStore } from './upgrade/index.ts';

export interface CheckedFile {
  name: string;
  size: number;
  used: number;
}

export interface StoreReport {
  path: string;
  /** The files of the log, oldest first, and the prepared ones. */
  files: CheckedFile[];
  spares: CheckedFile[];
  revision: number;
  compactedRevision: number;
  /** Changes with their checksums verified. */
  records: number;
  damages: Damage[];
  /** The process that has the store open. */
  openIn: number | undefined;
}

/** Reads every byte of a store and writes nothing. Rejects with CorruptError when there is no store. */
export async function checkDiskStore(path: string): Promise<StoreReport> {
  const found = await look(resolve(path));
  if (found.state !== 'store') throw new CorruptError(`there is no store in ${path}`);
  const { recovery, openIn } = found;
  const { revision, compactedRevision, changes } = recovery.contents;
  const file = ({ number, size, end }: Recovery['segments'][number]): CheckedFile => ({
    name: segmentName(number),
    size,
    used: end,
  });
  return {
    path,
    files: recovery.segments.map(file),
    spares: recovery.spares.map(file),
    revision,
    compactedRevision,
    records: changes.length,
    damages: recovery.damages,
    openIn,
  };
}

/** The contents of a store that nobody writes to. Rejects with CorruptError. */
export async function readDiskStore(path: string): Promise<StoreContents> {
  const disk = nodeDisk(resolve(path));
  const found = await look(disk.path);
  const old = found.state === 'store' ? undefined : await readOldStore(disk);
  if (old) return old.contents;
  if (found.state !== 'store') throw new CorruptError(`there is no store in ${path}`);
  if (found.recovery.damages.length > 0) throw new CorruptError(describeDamage(disk, found.recovery.damages));
  return found.recovery.contents;
}

/** Who has the store open goes on meanwhile, and may have given a file up that was still to be read: then all is read again. */
async function look(path: string): Promise<Found & { openIn: number | undefined }> {
  for (let reads = 1; ; reads++) {
    const found = await findStore(nodeDisk(path)).catch((error: NodeJS.ErrnoException): Found => {
      if (error.code === 'ENOENT') return { state: 'empty' };
      throw error;
    });
    const openIn = await lockHolder(path);
    const damaged = found.state === 'store' && found.recovery.damages.length > 0;
    if (!damaged || openIn === undefined || reads === checkReadsMax) return { ...found, openIn };
  }
}

export interface Restored {
  /** The revision of the snapshot. */
  snapshot: number;
  /** Where the store goes on, beyond what any client of before has seen. */
  revision: number;
  /** Where the store that was there lies now. */
  before: string | undefined;
}

/**
 * Begins a store anew from a snapshot, which is read and verified first. It is made beside its place, so that a restore that is cut off changes nothing; what
 * was there is kept. Rejects with CorruptError, and with LockedError while the store is open.
 */
export async function restoreDiskStore(path: string, snapshot: Buffer): Promise<Restored> {
  const directory = resolve(path);
  const contents = decodeSnapshot(snapshot);
  const initial = aheadOf(contents, await newestIn(directory));
  await assertUnlocked(directory);
  const draft = `${directory}.moving`;
  try {
    await writeDraft(draft, initial);
  } catch (error) {
    // On a disk that is full the room is needed.
    if (!(error instanceof LockedError)) await rm(draft, { recursive: true, force: true });
    throw error;
  }
  const before = await moveAside(directory);
  await rename(draft, directory);
  await syncDir(dirname(directory));
  return { snapshot: contents.revision, revision: initial.revision, before };
}

async function writeDraft(draft: string, initial: StoreContents): Promise<void> {
  await ensureDir(draft);
  const lock = await lockDirectory(draft);
  // One of an earlier try.
  for (const name of await readdir(draft)) if (name !== lockName) await rm(join(draft, name), { recursive: true });
  const { log } = await openLog({
    disk: nodeDisk(draft),
    clock: systemClock(),
    logger: silentLogger,
    quotaBytes: quotaBytesDefault,
    mustExist: false,
    initial,
    release: () => lock.release(),
  });
  await log.close();
}

/** Rejects with LockedError while somebody has the store open. */
async function assertUnlocked(directory: string): Promise<void> {
  if (await stat(directory).catch(() => undefined)) await (await lockDirectory(directory)).release();
}

/** The newest revision that clients of a store have seen; undefined: it is not there, or damaged, so that nobody can say. */
async function newestIn(directory: string): Promise<number | undefined> {
  try {
    return (await readDiskStore(directory)).revision;
  } catch (error) {
    if (error instanceof CorruptError) return undefined;
    throw error;
  }
}

/** Puts a store that nobody has open beside its place. Undefined: there was nothing. */
export async function moveAside(directory: string): Promise<string | undefined> {
  if (!(await stat(directory).catch(() => undefined))) return undefined;
  const lock = await lockDirectory(directory);
  try {
    for (let count = 1; ; count++) {
      const aside = join(`${directory}-before`, String(count));
      if (await stat(aside).catch(() => undefined)) continue;
      await ensureDir(dirname(aside));
      await rename(directory, aside);
      await rm(join(aside, lockName), { force: true });
      return aside;
    }
  } finally {
    await lock.release();
  }
}
