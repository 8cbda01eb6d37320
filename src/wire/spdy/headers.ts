// Header blocks: name/value pairs inside one zlib stream per direction (SPDY 3.1 section 2.6.10). Every block ends at a byte boundary
// (sync flush), so the only state carried to the next block is the 32 KiB window; that lets each block be read in one synchronous call. Ours are not
// compressed: they are short, and a peer that opens thousands of streams would have us make a compressor for the answer to each.
import { constants, inflateRawSync } from 'node:zlib';
import { limits } from '../limits.ts';
import { dictionary, dictionaryId } from './dictionary.ts';
import { SpdyError } from './errors.ts';

/** Names in lower case; a repeated name has several values. */
export type SpdyHeaders = Record<string, string | readonly string[]>;

const windowBytes = 32_768;
/** CMF 0x78, FLG with the preset-dictionary bit; then the dictionary's id. */
const streamPrefix = Buffer.from([0x78, 0xbb, ...Buffer.from(dictionaryId.toString(16), 'hex')]);

const slide = (window: Buffer, added: Buffer): Buffer => {
  const all = Buffer.concat([window, added]);
  return all.length <= windowBytes ? all : all.subarray(all.length - windowBytes);
};

function encodePairs(headers: SpdyHeaders): Buffer {
  const entries = Object.entries(headers);
  const parts: Buffer[] = [];
  const number = (value: number): void => {
    const octets = Buffer.alloc(4);
    octets.writeUInt32BE(value);
    parts.push(octets);
  };
  const text = (value: string): void => {
    const octets = Buffer.from(value, 'utf8');
    number(octets.length);
    parts.push(octets);
  };
  number(entries.length);
  for (const [name, value] of entries) {
    text(name.toLowerCase());
    text(typeof value === 'string' ? value : value.join('\u0000'));
  }
  return Buffer.concat(parts);
}

function decodePairs(block: Buffer): Record<string, string> {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyError('truncated header block');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (at + length > block.length) throw new SpdyError('truncated header block');
    at += length;
    return block.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > limits.spdyHeadersMax) throw new SpdyError('too many headers');
  const headers: Record<string, string> = Object.create(null);
  for (let i = 0; i < count; i++) {
    const name = text();
    if (name === '' || name !== name.toLowerCase()) throw new SpdyError('malformed header name');
    headers[name] = text();
  }
  return headers;
}

/**
 * Blocks of a zlib stream that hold their bytes as they are (RFC 1951 section 3.2.4); none of them is the stream's last. The empty one at the end is a
 * sync flush: Go's reader gives nothing out before it.
 */
function stored(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += storedBytesMax) {
    const piece = bytes.subarray(at, at + storedBytesMax);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(piece.length, 1);
    head.writeUInt16LE(~piece.length & 0xffff, 3);
    parts.push(head, piece);
  }
  return Buffer.concat([...parts, syncFlush]);
}

const storedBytesMax = 65_535;
const syncFlush = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** One direction's encoder. Blocks must be sent in the order they were made. */
export function headerEncoder(): (headers: SpdyHeaders) => Buffer {
  let first = true;
  return (headers) => {
    const packed = stored(encodePairs(headers));
    if (!first) return packed;
    first = false;
    return Buffer.concat([streamPrefix, packed]);
  };
}

/** One direction's decoder. Several values of a name are separated by U+0000. Throws `SpdyError`, after which the connection is lost. */
export function headerDecoder(): (block: Buffer) => Record<string, string> {
  let window = dictionary;
  let first = true;
  return (block) => {
    let packed = block;
    if (first) {
      if (block.length < 6 || (block[0] as number) % 16 !== 8 || !block.subarray(2, 6).equals(streamPrefix.subarray(2))) {
        throw new SpdyError('malformed header compression');
      }
      packed = block.subarray(6);
      first = false;
    }
    let plain: Buffer;
    try {
      plain = inflateRawSync(packed, {
        dictionary: window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: limits.spdyHeaderBytesMax,
      });
    } catch (error) {
      throw new SpdyError('malformed header compression', { cause: error });
    }
    window = slide(window, plain);
    return decodePairs(plain);
  };
}
