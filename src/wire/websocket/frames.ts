// WebSocket framing (RFC 6455 section 5): bytes to frames and back, no extensions.
import { randomFillSync } from 'node:crypto';

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  noStatus: 1005,
  invalidData: 1007,
  tooLarge: 1009,
  internal: 1011,
} as const;

/** The peer broke the protocol; the connection closes with `code`. */
export class WebSocketError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(`websocket: ${message}`);
    this.name = 'WebSocketError';
    this.code = code;
  }
}

function applyMask(payload: Buffer, mask: Buffer): void {
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] as number) ^ (mask[i & 3] as number);
}

/** Head and payload of one frame. Clients mask, servers never do (section 5.1). */
export function encodeFrame(op: number, payload: Buffer, options: { masked: boolean; fin?: boolean }): Buffer[] {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extended + (options.masked ? 4 : 0));
  head[0] = ((options.fin ?? true) ? 0x80 : 0) | op;
  head[1] = (options.masked ? 0x80 : 0) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!options.masked) return [head, payload];
  const mask = randomFillSync(head.subarray(2 + extended));
  const body = Buffer.from(payload);
  applyMask(body, mask);
  return [head, body];
}

export interface Frame {
  op: number;
  fin: boolean;
  payload: Buffer;
}

interface FrameHead {
  op: number;
  fin: boolean;
  length: number;
  /** Octets of the head itself, mask included. */
  size: number;
  masked: boolean;
}

function readHead(input: Buffer, at: number): FrameHead | undefined {
  const available = input.length - at;
  if (available < 2) return undefined;
  const first = input[at] as number;
  const second = input[at + 1] as number;
  if (first & 0x70) throw new WebSocketError(closeCode.protocolError, 'reserved bits are set');
  const op = first & 0x0f;
  const fin = (first & 0x80) !== 0;
  const masked = (second & 0x80) !== 0;
  const short = second & 0x7f;
  if (op > 10 || (op > 2 && op < 8)) throw new WebSocketError(closeCode.protocolError, `bad opcode ${op}`);
  if (op >= 8 && (!fin || short > 125)) throw new WebSocketError(closeCode.protocolError, 'malformed control frame');
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  const size = 2 + extended + (masked ? 4 : 0);
  if (available < size) return undefined;
  const length = extended === 0 ? short : extended === 2 ? input.readUInt16BE(at + 2) : Number(input.readBigUInt64BE(at + 2));
  return { op, fin, length, size, masked };
}

function joined(chunks: Buffer[]): Buffer {
  if (chunks.length > 1) chunks.splice(0, chunks.length, Buffer.concat(chunks));
  return chunks[0] ?? Buffer.alloc(0);
}

/** Chunks are joined when a frame is complete, so that it is not copied again with each of them; but not thousands of tiny ones are kept. */
const chunksMax = 64;

/**
 * Feed it what arrives; throws `WebSocketError`. `expectMasked` is true on the server's side. A data frame of more than `wholeBytesMax` is given in the
 * pieces that it arrives in, as if the peer had made fragments of it.
 */
export function frameParser(
  options: { expectMasked: boolean; wholeBytesMax: number },
  onFrame: (frame: Frame) => void,
): (chunk: Buffer) => void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let needed = 2;
  /** A large frame under way: its next operation, what is left of it, and its mask, turned to where the payload goes on. */
  let large: { op: number; fin: boolean; left: number; mask: Buffer | undefined } | undefined;

  /** Octets used of `input`; 0: more are needed. */
  const whole = (input: Buffer): number => {
    const head = readHead(input, 0);
    if (head === undefined) return 0;
    if (head.masked !== options.expectMasked) throw new WebSocketError(closeCode.protocolError, 'wrong masking');
    if (!Number.isSafeInteger(head.length)) throw new WebSocketError(closeCode.tooLarge, 'frame too large');
    const { op, fin, length, size, masked } = head;
    const mask = masked ? input.subarray(size - 4, size) : undefined;
    if (length > options.wholeBytesMax) {
      large = { op, fin, left: length, mask: mask && Buffer.from(mask) };
      return size;
    }
    needed = size + length;
    if (input.length < needed) return 0;
    const payload = input.subarray(size, needed);
    if (mask) applyMask(payload, mask);
    onFrame({ op, fin, payload });
    return size + length;
  };
  const piece = (frame: NonNullable<typeof large>, input: Buffer): number => {
    const payload = input.subarray(0, Math.min(input.length, frame.left));
    const { op, mask } = frame;
    if (mask) {
      applyMask(payload, mask);
      const turned = payload.length % 4;
      frame.mask = Buffer.concat([mask.subarray(turned), mask.subarray(0, turned)]);
    }
    frame.left -= payload.length;
    frame.op = opcode.continuation;
    if (frame.left === 0) large = undefined;
    onFrame({ op, fin: frame.fin && frame.left === 0, payload });
    return payload.length;
  };

  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return void (chunks.length > chunksMax && joined(chunks));
    let input = joined(chunks);
    while (input.length > 0) {
      needed = large ? 1 : 2;
      const used = large ? piece(large, input) : whole(input);
      if (used === 0) break;
      input = input.subarray(used);
    }
    if (input.length === 0) needed = 1;
    chunks.splice(0, chunks.length, ...(input.length > 0 ? [input] : []));
    bytes = input.length;
  };
}
