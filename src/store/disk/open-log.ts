// Opens the log of a store that is there, or begins one: empty, from a snapshot, or from the form that earlier versions wrote.
import type { Clock, Logger } from '#utils';
import { CorruptError } from '../errors.ts';
import { emptyContents, type LogEntry, type StoreContents } from '../mvcc/log.ts';
import type { Disk } from './disk.ts';
import { MarkerFile, newIdentity } from './marker.ts';
import { findStore, type Recovery } from './recover.ts';
import type { Damage } from './scan.ts';
import { SegmentLog } from './segment-log.ts';
import { toStoreError } from './spares.ts';
import { type OldStore, readOldStore } from './upgrade/index.ts';

export interface OpenLogOptions {
  disk: Disk;
  clock: Clock;
  logger: Logger;
  quotaBytes: number;
  /** What a new store begins with; only where none is. */
  initial: StoreContents | undefined;
  /** There was a store: finding none is damage. */
  mustExist: boolean;
  /** Runs when the log was closed. */
  release(): Promise<void>;
}

interface OpenedLog {
  log: SegmentLog;
  contents: StoreContents;
}

/** Rejects with CorruptError, or with the disk's error. */
export async function openLog(options: OpenLogOptions): Promise<OpenedLog> {
  const { disk, initial, mustExist } = options;
  const found = await findStore(disk);
  const old = found.state === 'store' ? undefined : await readOldStore(disk);
  if (initial && (old || found.state === 'store')) throw new CorruptError('a snapshot can only be restored into an empty store');
  if (found.state === 'store') {
    if (found.recovery.markerLost && (await readOldStore(disk)))
      throw new CorruptError(
        sentence(disk, 'there is a log, a store of an earlier version, and no marker that says which one counts'),
      );
    return resume(options, found.recovery);
  }
  if (mustExist && !old && !initial)
    throw new CorruptError(sentence(disk, 'there was a store here, and all of its files are gone'));
  for (const file of found.state === 'unfinished' ? found.files : []) await disk.remove(file);
  return begin(options, old?.contents ?? initial ?? emptyContents, old);
}

async function resume(options: OpenLogOptions, recovery: Recovery): Promise<OpenedLog> {
  const { disk, logger } = options;
  const { id, segments, spares, clean, next, contents, damages, leftovers } = recovery;
  if (damages.length > 0) throw new CorruptError(describeDamage(disk, damages));
  const newest = segments.at(-1)?.number ?? 0;
  if (recovery.markerLost) logger.warn('The marker of the store was lost and is made anew', { path: disk.path });
  const marker = recovery.markerLost
    ? await MarkerFile.create(disk, { id, newest, complete: true })
    : ((await MarkerFile.open(disk)) as MarkerFile);
  if (recovery.markerLost) await marker.complete();
  // What cannot be removed now is found again the next time.
  for (const file of leftovers) await disk.remove(file).catch(() => {});
  const { revision, compactedRevision, historyStart, leases, changes } = contents;
  const facts = { revision, compactedRevision, historyStart };
  const start = { id, segments, clean, spares, highest: newest, next, facts, leases, changes };
  return { log: new SegmentLog({ ...options, marker, start }), contents };
}

async function begin(options: OpenLogOptions, contents: StoreContents, old: OldStore | undefined): Promise<OpenedLog> {
  const { disk, logger } = options;
  const id = newIdentity();
  const { revision, compactedRevision, historyStart } = contents;
  const facts = { revision, compactedRevision, historyStart };
  const marker = await MarkerFile.create(disk, { id, newest: 0, complete: false });
  const start = { id, segments: [], clean: false, spares: [], highest: 0, next: 1, facts, leases: [], changes: [] };
  const log = new SegmentLog({ ...options, marker, start });
  try {
    await log.fill(entriesOf(contents));
    await marker.complete();
  } catch (error) {
    await log.close();
    throw toStoreError(error);
  }
  if (old) {
    logger.info('The store was upgraded to a log with checksums', { path: disk.path });
    await old.remove();
  }
  return { log, contents };
}

/** The contents as if they had been requested: one entry for each revision. */
function entriesOf({ changes, leases }: StoreContents): LogEntry[] {
  const entries: (LogEntry & { versions: LogEntry['versions'][number][] })[] = [];
  for (const granted of leases) entries.push({ versions: [], granted });
  let revision = 0;
  for (const change of changes) {
    if (change.kv.modRevision === revision) entries.at(-1)?.versions.push(change);
    else entries.push({ versions: [change] });
    revision = change.kv.modRevision;
  }
  return entries;
}

/** A message that names what is damaged, and what can be done. */
export function describeDamage(disk: Pick<Disk, 'path'>, damages: readonly Damage[]): string {
  const [first] = damages;
  const more = damages.length > 1 ? ` (and ${damages.length - 1} more)` : '';
  return sentence(disk, first ? `${first.file} at byte ${first.offset}: ${first.what}${more}` : 'it cannot be read');
}

const sentence = ({ path }: Pick<Disk, 'path'>, what: string): string =>
  `store ${path} is damaged: ${what}; nothing was changed. "sagong store check" lists all damage, ` +
  `"sagong store repair --from-snapshot FILE" begins again from a snapshot`;
