// Reads the whole log: which files belong to it, what they hold, and what is damaged. Nothing is written: the same look serves a start, a
// check beside a running store, and a repair.
import { readSlabBytes } from '../limits.ts';
import type { Change, LeaseGrant, StoreContents } from '../mvcc/log.ts';
import type { Disk } from './disk.ts';
import { decodeSegmentHead, seedOf, segmentHeadBytes, segmentName, segmentNumber, type SegmentState } from './format.ts';
import { type Marker, markerName, readMarker } from './marker.ts';
import { type LogRecord } from './records.ts';
import { checkSegment, type Damage, isZero, type ScannedFrame, scanFrames } from './scan.ts';

export interface FoundSegment {
  number: number;
  size: number;
  /** Where its last frame ends. */
  end: number;
}

export interface Recovery {
  id: string;
  /** The files of the log, oldest first. */
  segments: FoundSegment[];
  /** The newest segment can be gone on with. */
  clean: boolean;
  /** Prepared and never used. */
  spares: FoundSegment[];
  /** Files that do not belong to the log any more, or never did. */
  leftovers: string[];
  /** Sequence number of the next frame. */
  next: number;
  contents: StoreContents & { changes: Change[]; leases: LeaseGrant[] };
  damages: Damage[];
  /** The marker has to be made anew. */
  markerLost: boolean;
}

/** What there is in a directory: nothing, the beginning of a store that was never acknowledged, or a store. */
export type Found = { state: 'empty' } | { state: 'unfinished'; files: string[] } | { state: 'store'; recovery: Recovery };

interface ReadSegment extends FoundSegment {
  frames: ScannedFrame[];
  clean: boolean;
}

export async function findStore(disk: Disk): Promise<Found> {
  const names = await disk.list();
  const marker = await readMarker(disk);
  const numbers = names.flatMap((name) => segmentNumber(name) ?? []).sort((a, b) => a - b);
  if (marker === undefined && numbers.length === 0) return { state: 'empty' };
  if (typeof marker === 'object' && !marker.complete) return { state: 'unfinished', files: numbers.map(segmentName) };
  const recovery = await new LogReader(disk, marker).read(numbers);
  const drafts = names.filter((name) => /^\.\d{12}\.log\./.test(name));
  return { state: 'store', recovery: { ...recovery, leftovers: [...recovery.leftovers, ...drafts] } };
}

class LogReader {
  readonly #disk: Disk;
  readonly #marker: Marker | undefined;
  readonly #damages: Damage[] = [];
  readonly #spares: FoundSegment[] = [];
  readonly #leftovers: string[] = [];
  #id = '';
  #seed = 0;
  #oldest = 0;

  constructor(disk: Disk, marker: Marker | 'damaged' | undefined) {
    this.#disk = disk;
    this.#marker = marker === 'damaged' ? undefined : marker;
  }

  async read(numbers: readonly number[]): Promise<Recovery> {
    this.#id = this.#marker?.id ?? (await this.#identityFrom(numbers));
    this.#seed = seedOf(this.#id);
    const segments = await this.#chain(numbers);
    const newest = segments.at(-1);
    const shown = this.#marker?.newest ?? 0;
    if (this.#damages.length === 0 && (newest?.number ?? 0) < shown) this.#lost(segmentName(shown), 'the newest file of the log');
    const next = this.#checkSequence(segments);
    const { contents, whole } = gather(segments, this.#damages);
    return {
      id: this.#id,
      segments: segments.map(({ number, size, end }) => ({ number, size, end })),
      clean: whole && newest?.clean === true,
      spares: this.#spares.sort((a, b) => a.number - b.number),
      leftovers: this.#leftovers,
      next,
      contents,
      damages: this.#damages,
      markerLost: this.#marker === undefined,
    };
  }

  /** Without a marker the files themselves say whose they are. */
  async #identityFrom(numbers: readonly number[]): Promise<string> {
    for (const number of numbers) {
      const head = decodeSegmentHead((await this.#disk.read(segmentName(number))) ?? Buffer.alloc(0));
      if (head) return head.id;
    }
    const files = numbers.map(segmentName).join(', ');
    this.#damages.push({
      file: markerName,
      offset: 0,
      what: `neither it nor the files of the log (${files || 'none'}) can be read`,
    });
    return '';
  }

  /** From the newest segment back to the oldest one that is needed: each names the one before it. Answers them oldest first. */
  async #chain(numbers: readonly number[]): Promise<ReadSegment[]> {
    const segments: ReadSegment[] = [];
    let wanted: SegmentState['previous'] | undefined;
    for (const number of numbers.toReversed()) {
      const newest = segments.length === 0;
      if (wanted ? number > wanted.number : !newest) {
        this.#leftovers.push(segmentName(number));
        continue;
      }
      if (wanted && number < wanted.number) break;
      const read = await this.#segment(number, wanted?.end);
      if (read === undefined) continue;
      if (read === 'damaged') return segments;
      segments.unshift(read);
      const { state } = stateOf(read);
      if (!state) return segments;
      this.#oldest = Math.max(this.#oldest, state.oldest, ...read.frames.flatMap(oldestIn));
      wanted = number === this.#oldest ? undefined : state.previous;
      if (!wanted) return this.#rest(segments, numbers);
    }
    if (wanted) this.#lost(segmentName(wanted.number), 'a file of the log');
    return segments;
  }

  /** The chain is whole: what is older was removed, or was about to be. */
  #rest(segments: ReadSegment[], numbers: readonly number[]): ReadSegment[] {
    const oldest = segments[0]?.number ?? 0;
    for (const number of numbers) if (number < oldest) this.#leftovers.push(segmentName(number));
    return segments;
  }

  /** Reads a segment; undefined for one that was prepared, but never belonged to the log. */
  async #segment(number: number, end: number | undefined): Promise<ReadSegment | 'damaged' | undefined> {
    const file = segmentName(number);
    const bytes = await this.#disk.read(file).catch((error: unknown) => error as Error);
    const damage = isBytes(bytes) ? checkSegment(file, bytes, this.#id, number) : unreadable(file, bytes);
    if (damage || !isBytes(bytes)) {
      if (damage) this.#damages.push(damage);
      return 'damaged';
    }
    const size = bytes.length;
    if (end === undefined && isZero(bytes, segmentHeadBytes, size)) {
      this.#spares.push({ number, size, end: segmentHeadBytes });
      return undefined;
    }
    const scan = scanFrames(file, bytes, this.#seed, end);
    if (scan.frames.length === 0 && scan.damages.length === 0) {
      this.#leftovers.push(file);
      return undefined;
    }
    this.#damages.push(...scan.damages);
    if (scan.frames.length > 0 && !stateOf(scan).state) {
      this.#damages.push({ file, offset: segmentHeadBytes, what: 'the frame that the file begins with is missing' });
    }
    return { number, size, end: scan.end, clean: scan.clean, frames: withOwnMemory(scan.frames) };
  }

  /** Answers the number of the next frame. */
  #checkSequence(segments: readonly ReadSegment[]): number {
    let next = 0;
    for (const { number, frames } of segments) {
      const first = frames[0]?.sequence ?? next;
      if (next !== 0 && first !== next && this.#damages.length === 0) {
        this.#damages.push({
          file: segmentName(number),
          offset: segmentHeadBytes,
          what: `frames ${next} to ${first - 1} are missing`,
        });
      }
      next = (frames.at(-1)?.sequence ?? next - 1) + 1;
    }
    return Math.max(1, next);
  }

  #lost(file: string, what: string): void {
    this.#damages.push({ file, offset: 0, what: `${what} is missing` });
  }
}

const isBytes = (read: Buffer | Error | undefined): read is Buffer => Buffer.isBuffer(read);

const unreadable = (file: string, error: Error | undefined): Damage => ({
  file,
  offset: 0,
  what: `the file cannot be read: ${error?.message ?? 'it is gone'}`,
});

const oldestIn = ({ records }: ScannedFrame): number[] =>
  records.flatMap((record) => (record.type === 'oldest' ? [record.number] : []));

function stateOf({ frames }: { frames: readonly ScannedFrame[] }): { state: SegmentState | undefined } {
  const first = frames[0]?.records[0];
  return { state: first?.type === 'state' ? first.state : undefined };
}

/** Copies values out of the file's buffer, many into one piece of memory: one allocation each would cost most of the time. */
function withOwnMemory(frames: ScannedFrame[]): ScannedFrame[] {
  let slab = Buffer.alloc(0);
  let used = 0;
  const copyOf = (value: Uint8Array): Uint8Array => {
    const size = value.byteLength;
    if (size === 0) return value;
    if (used + size > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.max(size, readSlabBytes));
      used = 0;
    }
    const copy = slab.subarray(used, used + size);
    copy.set(value);
    used += size;
    return copy;
  };
  for (const { records } of frames) {
    for (const record of records) if (record.type === 'change') record.change.kv.value = copyOf(record.change.kv.value);
  }
  return frames;
}

/** Puts the records of all segments together. `whole`: the log does not end within a request. */
function gather(segments: readonly ReadSegment[], damages: Damage[]): { contents: Recovery['contents']; whole: boolean } {
  const inOrder: ChangeRecord[] = [];
  const moved: ChangeRecord[] = [];
  const leases = new Map<number, LeaseGrant>();
  const facts = { revision: 1, compactedRevision: 0, historyStart: 2 };
  const apply = (record: LogRecord): void => {
    if (record.type === 'change') (record.moved ? moved : inOrder).push(record);
    else if (record.type === 'grant') leases.set(record.lease.id, record.lease);
    else if (record.type === 'revoke') leases.delete(record.id);
    else if (record.type === 'compact') compactTo(facts, record.revision);
    else if (record.type === 'state') adopt(facts, record.state);
  };
  let group: LogRecord[] = [];
  for (const { records, ends } of segments.flatMap(({ frames }) => frames)) {
    const [first] = records;
    if (first?.type === 'state') {
      // A request that was not whole when the log went on elsewhere never counted.
      if (!first.state.continues) group = [];
      apply(first);
      continue;
    }
    group.push(...records);
    if (!ends) continue;
    group.forEach(apply);
    group = [];
  }
  const changes = merge(inOrder, moved);
  const revision = Math.max(facts.revision, changes.at(-1)?.change.kv.modRevision ?? 0);
  if (damages.length === 0) checkHistory(changes, facts.historyStart, revision, damages);
  const contents = { ...facts, revision, changes: changes.map(({ change }) => change), leases: [...leases.values()] };
  return { contents, whole: group.length === 0 };
}

type ChangeRecord = Extract<LogRecord, { type: 'change' }>;
type Facts = { revision: number; compactedRevision: number; historyStart: number };

function compactTo(facts: Facts, revision: number): void {
  if (revision <= facts.compactedRevision) return;
  facts.compactedRevision = revision;
  facts.historyStart = Math.max(facts.historyStart, revision);
}

function adopt(facts: Facts, state: SegmentState): void {
  facts.revision = Math.max(facts.revision, state.revision);
  facts.compactedRevision = Math.max(facts.compactedRevision, state.compactedRevision);
  facts.historyStart = Math.max(facts.historyStart, state.historyStart);
}

const byRevision = (a: ChangeRecord, b: ChangeRecord): number =>
  a.change.kv.modRevision - b.change.kv.modRevision || a.change.sub - b.change.sub;

/** Merges in the order of revision and sub, each record once: a crash can leave a moved record in both places. */
function merge(inOrder: ChangeRecord[], moved: ChangeRecord[]): ChangeRecord[] {
  if (moved.length === 0) return inOrder;
  const merged: ChangeRecord[] = [];
  const push = (record: ChangeRecord): void => {
    const last = merged.at(-1);
    if (!last || byRevision(last, record) !== 0) merged.push(record);
  };
  moved.sort(byRevision);
  let at = 0;
  for (const record of inOrder) {
    for (; at < moved.length && byRevision(moved[at] as ChangeRecord, record) <= 0; at++) push(moved[at] as ChangeRecord);
    push(record);
  }
  for (; at < moved.length; at++) push(moved[at] as ChangeRecord);
  return merged;
}

/** Every revision since `historyStart` must be there, whole. */
function checkHistory(changes: readonly ChangeRecord[], historyStart: number, revision: number, damages: Damage[]): void {
  let complete = historyStart - 1;
  for (const { change, last } of changes) {
    if (change.kv.modRevision < historyStart) continue;
    if (change.kv.modRevision !== complete + 1) break;
    if (last) complete++;
  }
  if (complete < revision && revision >= historyStart) {
    damages.push({ file: markerName, offset: 0, what: `the log holds no whole revision ${complete + 1} of ${revision}` });
  }
}
