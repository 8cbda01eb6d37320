// Standard base64 as Go's encoding/base64 reads it, without Node's lenient Buffer: byte fields stay base64 text in memory.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const wellFormed = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
/** Above this the regular expression is cut in pieces, since a long match could exhaust its stack. */
const pieceChars = 1 << 16;

const codes = new Int8Array(128).fill(-1);
for (let i = 0; i < alphabet.length; i++) codes[alphabet.charCodeAt(i)] = i;

/** Whether the text is base64 exactly as the encoder would write it. */
export function isCanonicalBase64(text: string): boolean {
  for (let at = 0; at < text.length || at === 0; at += pieceChars) {
    const piece = text.slice(at, at + pieceChars);
    if (!wellFormed.test(piece) || (at + pieceChars < text.length && piece.endsWith('='))) return false;
  }
  return true;
}

/** The bytes, or the offset (in characters) of the first one that does not belong there. Line breaks are skipped, as in Go. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | { corruptAt: number } {
  const out = new Uint8Array(Math.floor(text.length / 4) * 3 + 3);
  let length = 0;
  let bits = 0;
  let count = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 10 || char === 13) continue;
    if (char === 61) return endOf(text, at, count, out, length, bits);
    const value = char < 128 ? (codes[char] ?? -1) : -1;
    if (value < 0) return { corruptAt: at };
    bits = ((bits << 6) | value) & 0xffffff;
    count = (count + 1) & 3;
    if (count === 0) {
      out[length++] = bits >> 16;
      out[length++] = bits >> 8;
      out[length++] = bits;
    }
  }
  return count === 0 ? out.slice(0, length) : { corruptAt: at - count };
}

/** The padding at `at`, after `count` characters of a group. */
function endOf(
  text: string,
  at: number,
  count: number,
  out: Uint8Array,
  length: number,
  bits: number,
): Uint8Array<ArrayBuffer> | { corruptAt: number } {
  if (count < 2) return { corruptAt: at };
  let next = skipBreaks(text, at + 1);
  if (count === 2) {
    if (next >= text.length) return { corruptAt: text.length };
    if (text[next] !== '=') return { corruptAt: next };
    next = skipBreaks(text, next + 1);
  }
  if (next < text.length) return { corruptAt: next };
  const last = bits << (6 * (4 - count));
  out[length] = last >> 16;
  if (count === 3) out[length + 1] = last >> 8;
  return new Uint8Array(out.subarray(0, length + count - 1));
}

function skipBreaks(text: string, at: number): number {
  let next = at;
  while (text[next] === '\n' || text[next] === '\r') next++;
  return next;
}

/** Encodes bytes in standard base64, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let piece = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    piece += (alphabet[a >> 2] ?? '') + (alphabet[((a & 3) << 4) | (b >> 4)] ?? '');
    piece += at + 1 < bytes.length ? (alphabet[((b & 15) << 2) | (c >> 6)] ?? '') : '=';
    piece += at + 2 < bytes.length ? (alphabet[c & 63] ?? '') : '=';
    if (piece.length >= 8192) {
      pieces.push(piece);
      piece = '';
    }
  }
  return pieces.join('') + piece;
}
