// The durable log of an embedded store: an append-only sequence of files, each prepared in full before it is used. A batch of requests is
// one write and one flush. When a write or a flush fails, the log goes on in another file; when that fails too, writers are told so and
// the disk is tried again until it takes writes. Reads never come here: memory has everything.
import { createTurns } from '#host';
import type { Clock, Logger, Timer } from '#utils';
import { NoSpaceError, type StoreError } from '../errors.ts';
import {
  appendBytesMax,
  batchRevisionsMax,
  diskRetryMs,
  garbageFactor,
  markDelayMs,
  segmentBytesMax,
  segmentBytesMin,
  segmentsPerStore,
  slowSyncMs,
} from '../limits.ts';
import type { Change, LeaseGrant, LogEntry, Reachable, RevisionLog } from '../mvcc/log.ts';
import type { StoreUsage } from '../types.ts';
import { Cleaner, DamagedFileError } from './cleaner.ts';
import type { Disk } from './disk.ts';
import { groupOf } from './frames.ts';
import type { MarkerFile } from './marker.ts';
import { createMutex } from './mutex.ts';
import { changeBytes } from './records.ts';
import type { FoundSegment } from './recover.ts';
import { Spares, toStoreError } from './spares.ts';
import { type LogFacts, Writer } from './writer.ts';

/** Where the log stands: as it was found, or at the beginning of a new store. */
export interface LogStart {
  /** The id of the store. */
  id: string;
  segments: readonly FoundSegment[];
  clean: boolean;
  spares: readonly FoundSegment[];
  /** Highest number of a file that there is or was. */
  highest: number;
  next: number;
  facts: LogFacts;
  leases: Iterable<LeaseGrant>;
  changes: Iterable<Change>;
}

export interface SegmentLogOptions {
  disk: Disk;
  clock: Clock;
  logger: Logger;
  marker: MarkerFile;
  quotaBytes: number;
  start: LogStart;
  /** Runs when the log was closed. */
  release(): Promise<void>;
}

interface Alarm {
  error: StoreError;
  /** The quota is used up, and not the disk. */
  quota: boolean;
}

/** Part of the quota that may be in use when its alarm ends. */
const alarmEndsAt = 0.95;

export class SegmentLog implements RevisionLog {
  readonly #options: SegmentLogOptions;
  readonly #exclusive = createMutex();
  readonly #spares: Spares;
  readonly #writer: Writer;
  /** Durable: seconds by id. */
  readonly #leases = new Map<number, number>();
  readonly #facts: LogFacts;
  #cleaner: Cleaner | undefined;
  #cleaning: Promise<void> | undefined;
  /** Bytes of the changes that can be reached. */
  #inUse = 0;
  /** The disk takes nothing at all. */
  #problem: StoreError | undefined;
  /** Once a write was refused for want of room all are, as in etcd, until there is enough again. */
  #alarm: Alarm | undefined;
  #retry: Timer | undefined;
  #mark: Timer | undefined;
  #lastWriteMs = 0;
  #closed = false;

  constructor(options: SegmentLogOptions) {
    const { disk, clock, marker, start } = options;
    const { id, segments, clean, spares, highest, next } = start;
    this.#options = options;
    this.#facts = { ...start.facts };
    for (const { id: lease, ttlSeconds } of start.leases) this.#leases.set(lease, ttlSeconds);
    for (const change of start.changes) this.#inUse += changeBytes(change);
    const onChange = (problem: StoreError | undefined): void => this.#prepared(problem);
    this.#spares = new Spares({ disk, clock, id, found: spares, highest, size: () => this.#segmentBytes(), onChange });
    this.#writer = new Writer({ disk, marker, spares: this.#spares, id, segments, clean, next, facts: () => this.#facts });
  }

  begin(reachable: Reachable): void {
    const { disk, clock, start } = this.#options;
    const turns = createTurns(clock);
    const [writer, exclusive, leases] = [this.#writer, this.#exclusive, this.#leases];
    this.#cleaner = new Cleaner({ disk, id: start.id, writer, exclusive, turns, reachable, leases });
  }

  /** Writes the beginning of a new store. */
  async fill(entries: readonly LogEntry[]): Promise<void> {
    await this.#exclusive(() => this.#writer.ready());
    for (let at = 0; at < entries.length; ) {
      const some = entries.slice(at, at + batchRevisionsMax);
      at += await this.append(some);
    }
  }

  refusal(bytes: number, frees: boolean): StoreError | undefined {
    if (this.#problem || frees) return this.#problem;
    if (this.#alarm && !this.#isPast(this.#alarm)) return this.#alarm.error;
    const error = this.#shortage(bytes);
    if (error || this.#alarm) this.#raise(error);
    return error;
  }

  async append(entries: readonly LogEntry[]): Promise<number> {
    const taken = entries.slice(0, firstThatFit(entries));
    const { clock, logger } = this.#options;
    const started = clock.monotonic();
    await this.#exclusive(() => this.#write(taken));
    const tookMs = clock.monotonic() - started;
    if (tookMs > slowSyncMs) logger.warn('slow fdatasync', { took: `${Math.round(tookMs)}ms`, 'expected-duration': '1s' });
    this.#spares.fill();
    this.#scheduleMark();
    return taken.length;
  }

  forget(dead: readonly Change[]): void {
    for (const change of dead) this.#inUse -= changeBytes(change);
    this.#clean();
  }

  usage(): Omit<StoreUsage, 'keys'> {
    const segments = this.#writer.segments.reduce((sum, { size }) => sum + size, 0);
    return { bytes: segments + this.#spares.bytes(false), bytesInUse: this.#inUse };
  }

  async defragment(): Promise<void> {
    while (this.#cleaning) await this.#cleaning;
    const rewriting = this.#cleaner?.rewrite() ?? Promise.resolve();
    const over = (): void => {
      this.#cleaning = undefined;
    };
    this.#cleaning = rewriting.then(over, over);
    await rewriting.catch((error: unknown) => {
      throw toStoreError(error);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.cancel();
    this.#mark?.cancel();
    await this.#cleaning;
    await this.#spares.close();
    await this.#exclusive(async () => {
      await this.#writer.mark().catch(() => {});
      await this.#writer.close();
      await this.#options.marker.close();
    });
    await this.#options.release();
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    const groups = entries.map(groupOf);
    try {
      await this.#writer.write(groups).catch(async (error: unknown) => {
        // What one file does not take another one may.
        if (!this.#writer.broken) throw error;
        this.#options.logger.warn('A write to the store failed; trying again in another file', { err: error });
        await this.#writer.write(groups);
      });
    } catch (error) {
      const failure = toStoreError(error);
      if (this.#writer.broken) this.#suspend(failure);
      throw failure;
    }
    for (const entry of entries) this.#account(entry);
  }

  #account({ versions, granted, revoked, compactedRevision }: LogEntry): void {
    for (const version of versions) this.#inUse += changeBytes(version);
    this.#facts.revision = versions[0]?.kv.modRevision ?? this.#facts.revision;
    if (granted) this.#leases.set(granted.id, granted.ttlSeconds);
    if (revoked !== undefined) this.#leases.delete(revoked);
    if (!compactedRevision) return;
    this.#facts.compactedRevision = compactedRevision;
    this.#facts.historyStart = Math.max(this.#facts.historyStart, compactedRevision);
  }

  /** Refuses everything until the disk takes a new file again. */
  #suspend(problem: StoreError): void {
    const known = this.#problem !== undefined;
    this.#problem = problem;
    if (!known) this.#tell(problem);
    this.#retry?.cancel();
    if (this.#closed) return;
    this.#retry = this.#options.clock.setTimer(diskRetryMs, () => {
      void this.#exclusive(() => this.#resume());
    });
  }

  async #resume(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#writer.ready();
      this.#problem = undefined;
      this.#tell(undefined);
    } catch (error) {
      this.#suspend(toStoreError(error));
    }
  }

  #tell(problem: StoreError | undefined): void {
    const { logger, disk } = this.#options;
    if (!problem) logger.info('The store takes writes again', { path: disk.path });
    else logger.error('The store takes no writes', { path: disk.path, alarm: alarmOf(problem), err: problem.cause ?? problem });
  }

  /** Whether the last try to prepare a file succeeded has changed. */
  #prepared(problem: StoreError | undefined): void {
    const { logger, disk } = this.#options;
    if (problem) logger.warn('The store could not prepare another file', { path: disk.path, err: problem.cause ?? problem });
    else if (this.#alarm && this.#isPast(this.#alarm)) this.#raise(undefined);
    if (problem) this.#clean();
  }

  /** Why there is no room for so much. */
  #shortage(bytes: number): StoreError | undefined {
    const { quotaBytes } = this.#options;
    if (this.#inUse + bytes > quotaBytes)
      return new NoSpaceError({ cause: new Error(`the quota of ${quotaBytes} bytes is used up`) });
    const { problem } = this.#spares;
    return problem && bytes + roomForOthers > this.#writer.room + this.#spares.bytes(true) ? problem : undefined;
  }

  /** An alarm stands until there is room for more than the next small write. */
  #isPast({ quota }: Alarm): boolean {
    return this.#spares.problem === undefined && !(quota && this.#inUse > alarmEndsAt * this.#options.quotaBytes);
  }

  #raise(error: StoreError | undefined): void {
    this.#alarm = error && { error, quota: error !== this.#spares.problem };
    this.#tell(error);
  }

  #segmentBytes(): number {
    const wanted = 2 ** Math.floor(Math.log2(Math.max(1, this.#inUse / segmentsPerStore)));
    return Math.min(segmentBytesMax, Math.max(segmentBytesMin, wanted));
  }

  /** A moment after the last write, so that busy times have no extra flushes. */
  #scheduleMark(): void {
    const { clock } = this.#options;
    this.#lastWriteMs = clock.monotonic();
    this.#mark ??= clock.setTimer(markDelayMs, () => this.#markIfQuiet());
  }

  #markIfQuiet(): void {
    const { clock, logger } = this.#options;
    this.#mark = undefined;
    if (this.#closed || this.#problem) return;
    const restMs = this.#lastWriteMs + markDelayMs - clock.monotonic();
    if (restMs > 0) this.#mark = clock.setTimer(restMs, () => this.#markIfQuiet());
    else {
      const marking = this.#exclusive(() => this.#writer.mark());
      marking.catch((error: unknown) => logger.warn('A write to the store failed', { err: error }));
    }
  }

  /** Begins to clean when more is garbage than may be; when the disk is full, as soon as that gives a whole file back. */
  #clean(): void {
    if (this.#cleaning || this.#closed || this.#problem || !this.#cleaner || !this.#hasGarbage()) return;
    this.#cleaning = this.#cleanOldest(this.#cleaner).then((done) => {
      this.#cleaning = undefined;
      if (done) this.#clean();
    });
  }

  /** False: it could not be done now. Never rejects. */
  async #cleanOldest(cleaner: Cleaner): Promise<boolean> {
    const { logger } = this.#options;
    try {
      await cleaner.cleanOldest().catch((error: unknown) => {
        if (!(error instanceof DamagedFileError)) throw error;
        logger.error('The store is damaged on the disk and whole in memory: writing all of it anew', { err: error });
        return cleaner.rewrite();
      });
      this.#spares.fill();
      return true;
    } catch (error) {
      logger.warn('The store could not give space back', { err: error });
      return false;
    }
  }

  #hasGarbage(): boolean {
    const { segments } = this.#writer;
    const used = segments.reduce((sum, { end }) => sum + end, 0);
    const spare = this.#segmentBytes();
    const allowed = this.#spares.problem ? segmentBytesMin : (garbageFactor - 1) * this.#inUse + 2 * spare;
    return segments.length > 1 && used - this.#inUse > allowed;
  }
}

/** Kept free for the heads of frames and files when a write is let in. */
const roomForOthers = 4096;

const alarmOf = (problem: StoreError): string => (problem instanceof NoSpaceError ? 'NOSPACE' : 'NONE');

/** How many entries make one write. */
function firstThatFit(entries: readonly LogEntry[]): number {
  let bytes = 0;
  let count = 0;
  for (const { versions } of entries) {
    for (const version of versions) bytes += changeBytes(version);
    if (count > 0 && bytes > appendBytesMax) break;
    count++;
  }
  return count;
}
