// Keys between etcd (bytes) and the store (strings that are valid UTF-8).
import { InvalidRequestError } from '../errors.ts';
import { prefixEnd } from '../keys.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decodeStrict = (bytes: Uint8Array): string | undefined => {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
};

/** A key as the store takes it. Keys that are not UTF-8 do not exist here. */
export function keyOf(bytes: Uint8Array): string {
  const key = decodeStrict(bytes);
  if (key === undefined) throw new InvalidRequestError('etcdserver: key is not valid UTF-8');
  return key;
}

/**
 * The exclusive end of a range. A client makes the end of a prefix by adding one to its last byte, which need not be UTF-8: then the
 * smallest string at or above those bytes means the same range.
 */
export function rangeEndOf(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined;
  const end = decodeStrict(bytes);
  return end ?? smallestAtOrAbove(bytes);
}

function smallestAtOrAbove(bytes: Uint8Array): string {
  let valid = bytes.length - 1;
  while (valid > 0 && decodeStrict(bytes.subarray(0, valid)) === undefined) valid--;
  const head = decodeStrict(bytes.subarray(0, valid)) ?? '';
  const rest = bytes.subarray(valid);
  let low = 0;
  let high = 0x110000;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(encodePoint(middle), rest) < 0) low = middle + 1;
    else high = middle;
  }
  if (low > 0x10ffff) return prefixEnd(head);
  return head + String.fromCodePoint(low >= 0xd800 && low < 0xe000 ? 0xe000 : low);
}

/** UTF-8 of a code point; for surrogates the bytes that they would have, which keeps the order. */
function encodePoint(point: number): Buffer {
  if (point < 0xd800 || point > 0xdfff) return Buffer.from(String.fromCodePoint(point));
  return Buffer.from([0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)]);
}
