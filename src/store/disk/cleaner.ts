// Gives disk space back. The oldest file of the log is read, with its checksums verified in passing; what can still be reached is written
// again at the log's end, a little at a time between the batches of writers; then the file is removed.
import type { Turns } from '#host';
import { cleanBytesMax } from '../limits.ts';
import type { Reachable } from '../mvcc/log.ts';
import type { Disk } from './disk.ts';
import { seedOf, segmentName } from './format.ts';
import type { RecordGroup } from './frames.ts';
import type { Exclusive } from './mutex.ts';
import { changeBytes, type LogRecord } from './records.ts';
import { type Damage, scanFrames } from './scan.ts';
import type { Writer } from './writer.ts';

export interface CleanerOptions {
  disk: Disk;
  /** The id of the store. */
  id: string;
  writer: Writer;
  exclusive: Exclusive;
  turns: Turns;
  reachable: Reachable;
  /** Durable leases that have not ended: seconds by id. */
  leases: ReadonlyMap<number, number>;
}

/** A file of the log cannot be read any more, while all that it holds is still in memory. */
export class DamagedFileError extends Error {
  readonly damages: readonly Damage[];
  constructor(damages: readonly Damage[]) {
    super(damages.map(({ file, offset, what }) => `${file} at byte ${offset}: ${what}`).join('; '));
    this.damages = damages;
  }
}

export class Cleaner {
  readonly #options: CleanerOptions;

  constructor(options: CleanerOptions) {
    this.#options = options;
  }

  /** Empties and removes the oldest file. Rejects with the disk's error, or with DamagedFileError before anything was done. */
  async cleanOldest(): Promise<void> {
    const { writer, exclusive } = this.#options;
    const [oldest] = writer.segments;
    if (!oldest || writer.segments.length < 2) return;
    await this.#move(await this.#read(oldest));
    await exclusive(() => writer.dropBefore(writer.segments[1]?.number ?? oldest.number));
  }

  /** Writes everything that is needed anew, from memory, and removes all files from before. */
  async rewrite(): Promise<void> {
    const { writer, exclusive, reachable, leases } = this.#options;
    const { first, records } = await exclusive(async () => {
      await writer.startFile();
      const changes = reachable.all().map(({ change, last }): LogRecord => ({ type: 'change', change, last, moved: true }));
      const grants = Array.from(leases, ([id, ttlSeconds]): LogRecord => ({ type: 'grant', lease: { id, ttlSeconds } }));
      return { first: writer.segments.at(-1)?.number ?? 0, records: [...grants, ...changes] };
    });
    await this.#move(records);
    await exclusive(() => writer.dropBefore(first));
  }

  async #read({ number, end }: { number: number; end: number }): Promise<LogRecord[]> {
    const { disk, id } = this.#options;
    const file = segmentName(number);
    const bytes = await disk.read(file);
    if (!bytes) throw new DamagedFileError([{ file, offset: 0, what: 'the file is gone' }]);
    const { frames, damages } = scanFrames(file, bytes, seedOf(id), end);
    if (damages.length > 0) throw new DamagedFileError(damages);
    return frames.flatMap(({ records }) => records);
  }

  async #move(records: readonly LogRecord[]): Promise<void> {
    const { writer, exclusive, turns } = this.#options;
    for (let at = 0; at < records.length; ) {
      await turns.rest();
      at = await exclusive(async () => {
        const { groups, next } = this.#needed(records, at);
        if (groups.length > 0) await writer.write(groups);
        return next;
      });
    }
  }

  /** What is needed of the records from `at` on, up to a bound, and where to go on. */
  #needed(records: readonly LogRecord[], at: number): { groups: RecordGroup[]; next: number } {
    const { reachable, leases } = this.#options;
    const groups: RecordGroup[] = [];
    let bytes = 0;
    let next = at;
    for (; next < records.length && next - at < recordsMax && bytes < cleanBytesMax; next++) {
      const record = records[next] as LogRecord;
      if (record.type === 'grant' && leases.has(record.lease.id)) groups.push([record]);
      if (record.type !== 'change' || !reachable.has(record.change)) continue;
      groups.push([{ ...record, moved: true }]);
      bytes += changeBytes(record.change);
    }
    return { groups, next };
  }
}

/** Records looked at before others get their turn. */
const recordsMax = 4096;
