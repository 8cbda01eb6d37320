// SPDY/3.1 frames (SPDY protocol draft 3.1, section 2.6): bytes to events and back. Data frames are passed on in the pieces they arrive in.
import { limits } from '../limits.ts';
import { SpdyError } from './errors.ts';

export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;
export const flagFin = 0x01;

export const resetStatus = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
} as const;

export const settingInitialWindowSize = 7;

const streamIdMask = 0x7fffffff;

export function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(flags * 2 ** 24 + payload.length, 4);
  return Buffer.concat([head, payload]);
}

export function words(...values: number[]): Buffer {
  const octets = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => octets.writeUInt32BE(value >>> 0, index * 4));
  return octets;
}

export const synStreamFrame = (id: number, fin: boolean, block: Buffer): Buffer =>
  controlFrame(frameType.synStream, fin ? flagFin : 0, Buffer.concat([words(id, 0), Buffer.from([0, 0]), block]));
export const synReplyFrame = (id: number, fin: boolean, block: Buffer): Buffer =>
  controlFrame(frameType.synReply, fin ? flagFin : 0, Buffer.concat([words(id), block]));
export const rstStreamFrame = (id: number, status: number): Buffer => controlFrame(frameType.rstStream, 0, words(id, status));
export const pingFrame = (id: number): Buffer => controlFrame(frameType.ping, 0, words(id));
export const goAwayFrame = (lastGoodId: number): Buffer => controlFrame(frameType.goAway, 0, words(lastGoodId, 0));
export const windowUpdateFrame = (id: number, delta: number): Buffer => controlFrame(frameType.windowUpdate, 0, words(id, delta));
export const settingsFrame = (initialWindow: number): Buffer =>
  controlFrame(frameType.settings, 0, words(1, settingInitialWindowSize, initialWindow));

/** The eight octets before a data frame's payload. */
export function dataHead(id: number, fin: boolean, length: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(id & streamIdMask, 0);
  head.writeUInt32BE(((fin ? flagFin : 0) << 24) | length, 4);
  return head;
}

export interface FrameHandler {
  control(type: number, flags: number, payload: Buffer): void;
  /** A piece of stream data; `fin` with the last piece of the last frame. Empty only together with `fin`. */
  data(id: number, piece: Buffer, fin: boolean): void;
}

/** Feed it what arrives. Throws `SpdyError` when the peer breaks the protocol; feed nothing more then. */
export function frameParser(handler: FrameHandler): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let data: { id: number; fin: boolean; left: number } | undefined;

  /** Returns how many octets of `input` from `at` were used; 0 when more are needed. */
  const step = (input: Buffer, at: number): number => {
    const available = input.length - at;
    if (data !== undefined) {
      const piece = input.subarray(at, at + Math.min(available, data.left));
      data.left -= piece.length;
      const { id, fin, left } = data;
      if (left === 0) data = undefined;
      handler.data(id, piece, fin && left === 0);
      return piece.length;
    }
    if (available < 8) return 0;
    const first = input.readUInt32BE(at);
    const second = input.readUInt32BE(at + 4);
    const flags = second >>> 24;
    const length = second & 0xffffff;
    if (first >>> 31 === 0) {
      const fin = (flags & flagFin) !== 0;
      if (length > 0) data = { id: first, fin, left: length };
      else if (fin) handler.data(first, Buffer.alloc(0), true);
      return 8;
    }
    if (((first >>> 16) & 0x7fff) !== 3) throw new SpdyError('unsupported version');
    if (length > limits.spdyControlBytesMax) throw new SpdyError('control frame too large');
    if (available < 8 + length) return 0;
    handler.control(first & 0xffff, flags, input.subarray(at + 8, at + 8 + length));
    return 8 + length;
  };

  return (chunk) => {
    const input = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let at = 0;
    while (at < input.length) {
      const used = step(input, at);
      if (used === 0) break;
      at += used;
    }
    pending = input.subarray(at);
  };
}

/** The stream id at `at`; throws when the payload is too short. */
export function readWord(payload: Buffer, at: number, what: string): number {
  if (payload.length < at + 4) throw new SpdyError(`truncated ${what} frame`);
  return payload.readUInt32BE(at) & streamIdMask;
}
