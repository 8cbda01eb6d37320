// From accepted requests to frames: a batch becomes one stretch of bytes, cut into frames at the bounds of requests, or within a request
// that is larger than a frame. Sequence numbers are put in when the frames are written.
import { frameBytesTarget } from '../limits.ts';
import type { LogEntry } from '../mvcc/log.ts';
import { encodeFrameHead, frameBytes, frameHeadBytes } from './format.ts';
import { encodeRecord, type LogRecord, recordBytes } from './records.ts';

/** A stretch of `EncodedFrames.bytes`. */
interface Frame {
  start: number;
  end: number;
  recordBytes: number;
  ends: boolean;
}

export interface EncodedFrames {
  bytes: Buffer;
  frames: readonly Frame[];
}

/** The records of one request: whole or not at all after a crash. */
export type RecordGroup = readonly LogRecord[];

export function groupOf({ versions, granted, revoked, compactedRevision }: LogEntry): RecordGroup {
  const last = versions.length - 1;
  const records: LogRecord[] = versions.map((change, i) => ({ type: 'change', change, last: i === last, moved: false }));
  if (granted) records.push({ type: 'grant', lease: granted });
  if (revoked !== undefined) records.push({ type: 'revoke', id: revoked });
  if (compactedRevision) records.push({ type: 'compact', revision: compactedRevision });
  return records;
}

interface Plan extends Frame {
  records: LogRecord[];
}

/** `room` gives memory of so many bytes, whatever was in it before. */
export function encodeFrames(
  groups: readonly RecordGroup[],
  seed: number,
  room: (bytes: number) => Buffer = Buffer.allocUnsafeSlow,
): EncodedFrames {
  const plans = planFrames(groups);
  const bytes = room(plans.at(-1)?.end ?? 0);
  for (const { start, end, records } of plans) {
    let at = start + frameHeadBytes;
    for (const record of records) at = encodeRecord(bytes, at, record, seed);
    bytes.fill(0, at, end);
  }
  return { bytes, frames: plans };
}

function planFrames(groups: readonly RecordGroup[]): Plan[] {
  const plans: Plan[] = [];
  let open: Plan | undefined;
  let at = 0;
  const close = (ends: boolean): void => {
    if (!open) return;
    at = open.start + frameBytes(open.recordBytes);
    plans.push(Object.assign(open, { end: at, ends }));
    open = undefined;
  };
  for (const group of groups) {
    for (const record of group) {
      const size = recordBytes(record);
      if (open && open.recordBytes + size > frameBytesTarget) close(record === group[0]);
      open ??= { start: at, end: at, recordBytes: 0, ends: false, records: [] };
      open.records.push(record);
      open.recordBytes += size;
    }
  }
  close(true);
  return plans;
}

/** Puts the heads into frames, numbering them from `sequence` on. */
export function sealFrames({ bytes, frames }: EncodedFrames, sequence: number, durable: number, seed: number): void {
  for (const [i, { start, recordBytes: size, ends }] of frames.entries()) {
    encodeFrameHead(bytes, start, { bytes: size, sequence: sequence + i, durable, ends }, seed);
  }
}

/** A frame without records: it says only that everything before it is on the disk. */
export function encodeMark(sequence: number, seed: number): Buffer {
  const bytes = Buffer.alloc(frameHeadBytes);
  encodeFrameHead(bytes, 0, { bytes: 0, sequence, durable: sequence - 1, ends: true }, seed);
  return bytes;
}
