// Writes frames to the newest file of the log, and goes on in the next one when it is full or has failed. One call at a time.
import { RequestTooLargeError } from '../errors.ts';
import { scratchBytesMax } from '../limits.ts';
import type { Disk, DiskFile } from './disk.ts';
import { type SegmentState, seedOf, segmentHeadBytes, segmentName } from './format.ts';
import { type EncodedFrames, encodeFrames, encodeMark, type RecordGroup, sealFrames } from './frames.ts';
import type { MarkerFile } from './marker.ts';
import type { FoundSegment } from './recover.ts';
import type { Spares } from './spares.ts';

/** What every file of the log begins with, beside where it stands in the log. */
export type LogFacts = Pick<SegmentState, 'revision' | 'compactedRevision' | 'historyStart'>;

export interface WriterOptions {
  disk: Disk;
  marker: MarkerFile;
  spares: Spares;
  /** Names the store. */
  id: string;
  /** The segments of the log, oldest first; empty: the log is new. */
  segments: readonly FoundSegment[];
  /** The newest one can be gone on with. */
  clean: boolean;
  /** Sequence number of the next frame. */
  next: number;
  facts(): LogFacts;
}

interface OpenSegment {
  segment: FoundSegment;
  file: DiskFile;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #seed: number;
  /** Oldest first; the one that is written to is the last. */
  readonly segments: FoundSegment[];
  #open: OpenSegment | undefined;
  /** The newest segment may be opened and gone on with. */
  #resumable: boolean;
  #next: number;
  /** What the last batch was encoded in: one write is over before the next begins. */
  #scratch: Buffer = Buffer.alloc(0);

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#seed = seedOf(options.id);
    this.segments = Array.from(options.segments, (segment) => ({ ...segment }));
    this.#resumable = options.clean;
    this.#next = options.next;
  }

  /** Bytes left in the newest file. */
  get room(): number {
    const newest = this.segments.at(-1);
    return newest && (this.#open || this.#resumable) ? newest.size - newest.end : 0;
  }

  /** A write or flush has failed: the next write begins a new file. */
  get broken(): boolean {
    return !this.#open && !this.#resumable && this.segments.length > 0;
  }

  /** Makes sure that there is a file to write to. Rejects with the disk's error. */
  async ready(): Promise<void> {
    if (!this.#open && this.#resumable) await this.#resume();
    if (!this.#open) await this.#rotate(false);
  }

  /**
   * Resolves when all groups are on the disk. After a rejection none of them counts, and unless there was no room to begin with, the
   * next write begins a new file.
   */
  async write(groups: readonly RecordGroup[]): Promise<void> {
    const encoded = encodeFrames(groups, this.#seed, this.#memory);
    await this.ready();
    if (encoded.bytes.length > this.room) await this.#rotate(false);
    let done = 0;
    while (done < encoded.frames.length) {
      if (this.#fitting(encoded, done) === done) await this.#rotate(true);
      const fits = this.#fitting(encoded, done);
      if (fits === done) throw new RequestTooLargeError();
      await this.#put(encoded, done, fits);
      done = fits;
    }
  }

  /** Notes that everything before is on the disk. */
  async mark(): Promise<void> {
    const bytes = encodeMark(this.#next, this.#seed);
    if (!this.#open || bytes.length > this.room) return;
    await this.#writeBytes(bytes, 1);
  }

  /** Everything that the files before `number` hold is not needed any more: removes them. */
  async dropBefore(number: number): Promise<void> {
    await this.write([[{ type: 'oldest', number }]]);
    const { disk, spares } = this.#options;
    while ((this.segments[0]?.number ?? number) < number) {
      const dropped = this.segments.shift() as FoundSegment;
      const recycled = await spares.recycle(dropped).catch(() => false);
      if (!recycled) await disk.remove(segmentName(dropped.number)).catch(() => {});
    }
  }

  /** Goes on in a new file, although the old one has room. */
  async startFile(): Promise<void> {
    await this.#rotate(false);
  }

  async close(): Promise<void> {
    await this.#open?.file.close();
    this.#open = undefined;
  }

  /** Memory for the next batch. A busy log would leave some megabytes of garbage behind each second, which V8 collects the whole heap for. */
  readonly #memory = (bytes: number): Buffer => {
    if (bytes > scratchBytesMax) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(Math.min(scratchBytesMax, bytes * 2));
    return this.#scratch.subarray(0, bytes);
  };

  /** Up to which frame, from `from` on, they fit into the file. */
  #fitting({ frames }: EncodedFrames, from: number): number {
    const start = frames[from]?.start ?? 0;
    let to = from;
    while (to < frames.length && (frames[to]?.end ?? 0) - start <= this.room) to++;
    return to;
  }

  async #put(encoded: EncodedFrames, from: number, to: number): Promise<void> {
    const frames = encoded.frames.slice(from, to);
    sealFrames({ bytes: encoded.bytes, frames }, this.#next, this.#next - 1, this.#seed);
    await this.#writeBytes(encoded.bytes.subarray(frames[0]?.start, frames.at(-1)?.end), frames.length);
  }

  async #writeBytes(bytes: Buffer, frames: number): Promise<void> {
    const open = this.#open as OpenSegment;
    try {
      await open.file.write(bytes, open.segment.end);
    } catch (error) {
      await this.#abandon();
      throw error;
    }
    open.segment.end += bytes.length;
    this.#next += frames;
  }

  /** What is in the file beyond its last good frame is unknown after a failure, and is never written over. */
  async #abandon(): Promise<void> {
    const failed = this.#open;
    this.#open = undefined;
    this.#resumable = false;
    await failed?.file.close().catch(() => {});
  }

  async #resume(): Promise<void> {
    const segment = this.segments.at(-1);
    this.#resumable = false;
    if (!segment) return;
    this.#open = { segment, file: await this.#options.disk.open(segmentName(segment.number)) };
  }

  /** The first frame of a new file says where it stands in the log. */
  async #rotate(continues: boolean): Promise<void> {
    const { disk, marker, spares, facts } = this.#options;
    const { number, size } = await spares.take();
    const previous = this.segments.at(-1) ?? { number: 0, end: 0 };
    const state: SegmentState = {
      previous: { number: previous.number, end: previous.end },
      continues,
      oldest: this.segments[0]?.number ?? number,
      ...facts(),
    };
    const encoded = encodeFrames([[{ type: 'state', state }]], this.#seed);
    sealFrames(encoded, this.#next, this.#next - 1, this.#seed);
    const file = await disk.open(segmentName(number));
    try {
      await file.write(encoded.bytes, segmentHeadBytes);
      await marker.write({ newest: number });
    } catch (error) {
      await file.close().catch(() => {});
      await disk.remove(segmentName(number)).catch(() => {});
      throw error;
    }
    await this.#open?.file.close().catch(() => {});
    const segment = { number, size, end: segmentHeadBytes + encoded.bytes.length };
    this.#open = { segment, file };
    this.#resumable = false;
    this.segments.push(segment);
    this.#next++;
  }
}
