// Bytes that are no UTF-8, in the words of the reader that upstream reads YAML with (go-yaml, readerc.go). Pure.

/** How long the character is that this byte begins; 0: none begins so. */
function widthOf(octet: number): number {
  if (octet < 0x80) return 1;
  if ((octet & 0xe0) === 0xc0) return 2;
  if ((octet & 0xf0) === 0xe0) return 3;
  return (octet & 0xf8) === 0xf0 ? 4 : 0;
}

const leastOfWidth = [0, 0, 0x80, 0x8_00, 0x1_00_00];

function problemAt(bytes: Uint8Array, at: number, width: number): string | undefined {
  if (width === 0) return 'invalid leading UTF-8 octet';
  if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence';
  let code = (bytes[at] ?? 0) & (0xff >> (width + 1));
  for (let next = at + 1; next < at + width; next++) {
    const octet = bytes[next] ?? 0;
    if ((octet & 0xc0) !== 0x80) return 'invalid trailing UTF-8 octet';
    code = (code << 6) | (octet & 0x3f);
  }
  if (code < (leastOfWidth[width] ?? 0)) return 'invalid length of a UTF-8 sequence';
  return (code >= 0xd8_00 && code <= 0xdf_ff) || code > 0x10_ff_ff ? 'invalid Unicode character' : undefined;
}

/** What is wrong with the first bytes that are no UTF-8; undefined where all are. */
export function utf8Problem(bytes: Uint8Array): string | undefined {
  for (let at = 0; at < bytes.length; ) {
    const width = widthOf(bytes[at] ?? 0);
    const problem = width === 1 ? undefined : problemAt(bytes, at, width);
    if (problem !== undefined) return problem;
    at += width;
  }
  return undefined;
}
