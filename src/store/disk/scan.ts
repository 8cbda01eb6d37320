// Reads one segment: every frame and record in order, and what is damaged. Whatever a crash can leave behind at the end of the log (a
// batch that was being written and that nobody was told of) is no damage; everything else that does not match its checksum is.
import {
  decodeFrameHead,
  decodeSegmentHead,
  type FrameHead,
  frameBytes,
  frameHeadBytes,
  frameMagicText,
  segmentHeadBytes,
} from './format.ts';
import { decodeRecord, guessRecord, type LogRecord } from './records.ts';

export interface Damage {
  file: string;
  offset: number;
  /** A clause: `the record of /a at revision 5 does not match its checksum`. */
  what: string;
}

export interface SegmentScan {
  /** What each frame holds, in order. */
  frames: ScannedFrame[];
  /** Where the last good frame ends. */
  end: number;
  /** Nothing but zeros comes after `end`. */
  clean: boolean;
  damages: Damage[];
}

export interface ScannedFrame {
  sequence: number;
  ends: boolean;
  records: readonly LogRecord[];
}

/** What is wrong with a segment's file as a whole, if anything. */
export function checkSegment(file: string, bytes: Buffer, id: string, number: number): Damage | undefined {
  const damage = (what: string, offset = 0): Damage => ({ file, offset, what });
  if (bytes.length === 0) return damage('the file is empty');
  const head = decodeSegmentHead(bytes);
  if (!head) return damage('the head of the file does not match its checksum');
  if (head.id !== id) return damage('the file belongs to another store');
  if (head.number !== number) return damage(`the file is number ${head.number} of the log under another name`);
  if (bytes.length < head.size) return damage(`the file was cut: ${bytes.length} bytes of ${head.size} are left`, bytes.length);
  return undefined;
}

/**
 * Reads the frames of a segment that passed `checkSegment`. `end`: where they end, as the segment after it says; undefined: that is to be
 * found out, this is the newest segment. Values are views into `bytes`.
 */
export function scanFrames(file: string, bytes: Buffer, seed: number, end: number | undefined): SegmentScan {
  const scan: SegmentScan = { frames: [], end: segmentHeadBytes, clean: false, damages: [] };
  const limit = end ?? bytes.length;
  let next = 0;
  let at = segmentHeadBytes;
  while (at < limit) {
    const head = frameAt(bytes, at, limit, seed);
    const follows = head !== undefined && (next === 0 || head.sequence === next);
    const { records, damages } = follows ? scanRecords(file, bytes, at, head, seed) : { records: [], damages: [] };
    if (follows && damages.length === 0) {
      scan.frames.push({ sequence: head.sequence, ends: head.ends, records });
      next = head.sequence + 1;
      at += frameBytes(head.bytes);
      scan.end = at;
      continue;
    }
    if (end === undefined && (isZero(bytes, at, limit) || isUnfinished(bytes, at, next, seed))) break;
    scan.damages.push(...damages);
    const resumed = nextFrame(bytes, at + 8, limit, next, seed);
    if (damages.length === 0) scan.damages.push({ file, offset: at, what: lossOf(next, resumed?.head.sequence) });
    if (!resumed) break;
    ({ at } = resumed);
    next = resumed.head.sequence;
  }
  scan.clean = isZero(bytes, scan.end, bytes.length);
  return scan;
}

const lossOf = (next: number, resumed: number | undefined): string => {
  const lost = resumed === undefined || next === 0 ? 0 : resumed - next;
  if (lost <= 0) return 'no frame of the log can be read here';
  return lost === 1
    ? `frame ${next} of the log is missing or damaged`
    : `frames ${next} to ${next + lost - 1} of the log are missing or damaged`;
};

/** The head at `at`, when its frame lies before `limit`. */
function frameAt(bytes: Buffer, at: number, limit: number, seed: number): FrameHead | undefined {
  const head = decodeFrameHead(bytes, at, seed);
  return head && at + frameBytes(head.bytes) <= limit ? head : undefined;
}

function scanRecords(file: string, bytes: Buffer, at: number, head: FrameHead, seed: number) {
  const records: LogRecord[] = [];
  const damages: Damage[] = [];
  const limit = at + frameHeadBytes + head.bytes;
  for (let start = at + frameHeadBytes; start < limit; ) {
    const { record, end } = decodeRecord(bytes, start, limit, seed);
    if (record) records.push(record);
    else damages.push({ file, offset: start, what: `${guessRecord(bytes, start, limit)} does not match its checksum` });
    start = end;
  }
  return { records, damages };
}

const sectorBytes = 512;

/**
 * Whether what is at `at` can be what a crash left of a batch that nobody was told of. The file was zeros before, and a disk writes
 * whole sectors: a batch that was cut lacks one at least. And no later frame says that this one was on the disk.
 */
function isUnfinished(bytes: Buffer, at: number, next: number, seed: number): boolean {
  for (const { head } of framesAfter(bytes, at + 8, seed)) if (head.durable >= next) return false;
  const head = decodeFrameHead(bytes, at, seed);
  const end = head ? Math.min(bytes.length, at + frameBytes(head.bytes)) : lastWritten(bytes, at);
  return lacksSector(bytes, at, Math.max(end, at + frameHeadBytes));
}

/** Whether a sector that [start, end) reaches into has only zeros there. */
function lacksSector(bytes: Buffer, start: number, end: number): boolean {
  for (let sector = start; sector < end; ) {
    const sectorEnd = Math.min(end, sector - (sector % sectorBytes) + sectorBytes);
    if (isZero(bytes, sector, sectorEnd)) return true;
    sector = sectorEnd;
  }
  return false;
}

/** Where the last sector ends that is not zeros. */
function lastWritten(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end > from) {
    const start = Math.max(from, end - 1 - ((end - 1) % sectorBytes));
    if (!isZero(bytes, start, end)) break;
    end = start;
  }
  return end;
}

interface FoundFrame {
  at: number;
  head: FrameHead;
}

/** Every place from `from` on where the head of a frame is whole, also where it was moved away from the bounds that frames keep. */
function* framesAfter(bytes: Buffer, from: number, seed: number): Generator<FoundFrame> {
  for (let at = bytes.indexOf(frameMagicText, from, 'latin1'); at >= 0; at = bytes.indexOf(frameMagicText, at + 1, 'latin1')) {
    const head = decodeFrameHead(bytes, at, seed);
    if (head) yield { at, head };
  }
}

/** The next frame from `from` on that can be a continuation. */
function nextFrame(bytes: Buffer, from: number, limit: number, next: number, seed: number): FoundFrame | undefined {
  for (const found of framesAfter(bytes, from, seed)) {
    if (found.head.sequence >= next && found.at + frameBytes(found.head.bytes) <= limit) return found;
  }
  return undefined;
}

const zeros = Buffer.alloc(64 * 1024);

export function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += zeros.length) {
    const length = Math.min(zeros.length, end - at);
    if (bytes.compare(zeros, 0, length, at, at + length) !== 0) return false;
  }
  return true;
}
