// How the log lies in its files. A file (segment) is a head and then frames, one after the other; a frame is a head and then records; a
// record is one change, one lease granted or ended, a compaction, or the state that a segment begins with. Everything has a checksum
// (CRC-32); those of frames and records begin with the store's identity, so that what another store left on the disk is never taken for data.
// All numbers are little-endian; those that may grow beyond 32 bits are doubles, exact up to 2^53.
import { crc32 } from 'node:zlib';

export const formatVersion = 1;

/** A file of the log is prepared with its full size: one that is shorter was cut. */
export interface SegmentHead {
  /** The id of the store, 32 hex digits. */
  id: string;
  number: number;
  size: number;
}

export const segmentHeadBytes = 64;
const segmentMagic = 'SAGONGLG';

export const segmentName = (number: number): string => `${String(number).padStart(12, '0')}.log`;

/** The number of a segment, by its file's name; undefined for any other file. */
export function segmentNumber(name: string): number | undefined {
  return /^\d{12}\.log$/.test(name) ? Number.parseInt(name, 10) : undefined;
}

/** What checksums of frames and records begin with. */
export const seedOf = (id: string): number => crc32(id);

export function encodeSegmentHead({ id, number, size }: SegmentHead): Buffer {
  const head = Buffer.alloc(segmentHeadBytes);
  head.write(segmentMagic, 0, 'latin1');
  head.writeUInt32LE(formatVersion, 8);
  head.writeDoubleLE(number, 16);
  head.writeDoubleLE(size, 24);
  head.write(id, 32, 16, 'hex');
  head.writeUInt32LE(crc32(head.subarray(0, segmentHeadBytes - 4)), segmentHeadBytes - 4);
  return head;
}

/** Reads the head of a segment; undefined where it is not whole. */
export function decodeSegmentHead(bytes: Buffer): SegmentHead | undefined {
  if (bytes.length < segmentHeadBytes || bytes.toString('latin1', 0, 8) !== segmentMagic) return undefined;
  if (bytes.readUInt32LE(segmentHeadBytes - 4) !== crc32(bytes.subarray(0, segmentHeadBytes - 4))) return undefined;
  if (bytes.readUInt32LE(8) !== formatVersion) return undefined;
  return { id: bytes.toString('hex', 32, 48), number: bytes.readDoubleLE(16), size: bytes.readDoubleLE(24) };
}

export interface FrameHead {
  /** Bytes of the records, without what fills the frame up to a multiple of 8. */
  bytes: number;
  /** Frames count from 1 through the whole log, without gaps. */
  sequence: number;
  /** Newest frame that was known to be on the disk when this one was written: whatever is missing up to there is damage. */
  durable: number;
  /** A request ends with this frame; a large one takes several. */
  ends: boolean;
}

export const frameHeadBytes = 32;
/** The characters with which every frame begins. */
export const frameMagicText = 'SFRM';
const frameMagic = Buffer.from(frameMagicText, 'latin1').readUInt32LE(0);
const endsFlag = 1;

export const frameBytes = (recordBytes: number): number => frameHeadBytes + alignFrame(recordBytes);
const alignFrame = (bytes: number): number => (bytes + 7) & ~7;

export function encodeFrameHead(target: Buffer, at: number, head: FrameHead, seed: number): void {
  target.writeUInt32LE(frameMagic, at);
  target.writeUInt32LE(head.bytes, at + 4);
  target.writeDoubleLE(head.sequence, at + 8);
  target.writeDoubleLE(head.durable, at + 16);
  target.writeUInt32LE(head.ends ? endsFlag : 0, at + 24);
  target.writeUInt32LE(crc32(target.subarray(at, at + frameHeadBytes - 4), seed), at + frameHeadBytes - 4);
}

/** Reads the head of a frame; undefined where there is no whole one. */
export function decodeFrameHead(source: Buffer, at: number, seed: number): FrameHead | undefined {
  if (at + frameHeadBytes > source.length || source.readUInt32LE(at) !== frameMagic) return undefined;
  const crcAt = at + frameHeadBytes - 4;
  if (source.readUInt32LE(crcAt) !== crc32(source.subarray(at, crcAt), seed)) return undefined;
  return {
    bytes: source.readUInt32LE(at + 4),
    sequence: source.readDoubleLE(at + 8),
    durable: source.readDoubleLE(at + 16),
    ends: (source.readUInt32LE(at + 24) & endsFlag) !== 0,
  };
}

/** The state that each segment begins with, so that the oldest one that is left tells all that does not follow from the records. */
export interface SegmentState {
  /** The segment before it and where its last frame ends: whatever comes there after it never counted. */
  previous: { number: number; end: number };
  /** The request that the segment before ends in goes on here; otherwise one that is not whole there never counted. */
  continues: boolean;
  /** Oldest segment that is still needed. */
  oldest: number;
  revision: number;
  compactedRevision: number;
  historyStart: number;
}
