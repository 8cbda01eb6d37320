// Files of the log prepared ahead of need, with all their bytes on the disk: only what fits into them is ever accepted, so that a full disk
// is noticed here and not in the middle of a write. The last one is kept back for what frees space.
import type { Clock, Timer } from '#utils';
import { DiskError, NoSpaceError, type StoreError } from '../errors.ts';
import { diskFreeBytesMin, diskRetryMs, segmentBytesMin, spareSegments } from '../limits.ts';
import type { Disk } from './disk.ts';
import { encodeSegmentHead, segmentName } from './format.ts';

export interface Spare {
  number: number;
  size: number;
}

export interface SparesOptions {
  disk: Disk;
  clock: Clock;
  /** The id of the store. */
  id: string;
  /** Those that an earlier process left, and the highest number ever used. */
  found: readonly Spare[];
  highest: number;
  /** Size of the next one. */
  size(): number;
  /** The disk took no more, or takes it again. */
  onChange(problem: StoreError | undefined): void;
}

export class Spares {
  readonly #options: SparesOptions;
  readonly #ready: Spare[];
  #highest: number;
  #problem: StoreError | undefined;
  #filling: Promise<void> | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: SparesOptions) {
    this.#options = options;
    this.#ready = [...options.found];
    this.#highest = Math.max(options.highest, ...this.#ready.map(({ number }) => number));
  }

  /** Why none could be prepared the last time. */
  get problem(): StoreError | undefined {
    return this.#problem;
  }

  /** Bytes of all that are ready; `kept`: without the one kept back. */
  bytes(kept: boolean): number {
    return this.#ready.slice(kept ? 1 : 0).reduce((sum, { size }) => sum + size, 0);
  }

  /** The next one; prepared now when none is. Rejects with NoSpaceError or DiskError. */
  async take(): Promise<Spare> {
    if (this.#ready.length === 0) await this.#filling;
    const ready = this.#ready.shift() ?? (await this.#prepare());
    this.fill();
    return ready;
  }

  /** A file that the log needs no more becomes a new one where the disk has no room for others. False: it was not wanted. */
  async recycle({ number: old, size }: Spare): Promise<boolean> {
    const { disk, id } = this.#options;
    if (!this.#problem || this.#ready.length >= spareSegments || this.#filling) return false;
    const number = ++this.#highest;
    await disk.prepare(segmentName(number), size, encodeSegmentHead({ id, number, size }), segmentName(old));
    this.#ready.push({ number, size });
    if (this.#ready.length >= spareSegments) this.#became(undefined);
    return true;
  }

  /** Prepares what is missing, in the background. */
  fill(): void {
    if (this.#closed || this.#ready.length >= spareSegments) return;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.cancel();
    await this.#filling;
  }

  async #fill(): Promise<void> {
    while (!this.#closed && this.#ready.length < spareSegments) {
      try {
        this.#ready.push(await this.#prepare());
        this.#became(undefined);
      } catch (error) {
        this.#became(error as StoreError);
        this.#retry?.cancel();
        this.#retry = this.#options.clock.setTimer(diskRetryMs, () => this.fill());
        return;
      }
    }
  }

  async #prepare(): Promise<Spare> {
    const { disk, id } = this.#options;
    const number = ++this.#highest;
    try {
      const size = await this.#sizeThatFits();
      await disk.prepare(segmentName(number), size, encodeSegmentHead({ id, number, size }));
      return { number, size };
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Where the disk is nearly full a small file is better than none. */
  async #sizeThatFits(): Promise<number> {
    const { disk } = this.#options;
    const free = (await disk.freeBytes()) - diskFreeBytesMin;
    let size = this.#options.size();
    while (size > free && size > segmentBytesMin) size /= 2;
    if (size > free) throw Object.assign(new Error(`ENOSPC: no space left on the disk of ${disk.path}`), { code: 'ENOSPC' });
    return size;
  }

  #became(problem: StoreError | undefined): void {
    const changed = (this.#problem === undefined) !== (problem === undefined);
    this.#problem = problem;
    if (changed) this.#options.onChange(problem);
  }
}

/** What a failure of the file system means to those who write: no room, or a disk that does not take writes. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof NoSpaceError || error instanceof DiskError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return new NoSpaceError({ cause: error });
  return new DiskError(`the store cannot write to its disk: ${message}`, { cause: error });
}
