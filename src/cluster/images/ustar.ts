// A writer of tar archives in the ustar form (POSIX.1-1988): enough for image layers. Pure: bytes in, bytes out; the same input gives the same
// bytes.

export interface TarEntry {
  /** Relative, at most 100 bytes, or 255 where a slash parts it well. */
  name: string;
  mode: number;
  uid?: number;
  gid?: number;
  /** A symbolic link's target; then there is no content. */
  linkTo?: string;
  /** A directory when absent and no link. */
  content?: Uint8Array;
}

const blockBytes = 512;
const nameBytesMax = 100;
const prefixBytesMax = 155;

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** A long name goes into two fields, parted at a slash. */
function parted(name: string): { prefix: string; rest: string } {
  if (Buffer.byteLength(name) <= nameBytesMax) return { prefix: '', rest: name };
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)];
    if (rest !== '' && Buffer.byteLength(prefix) <= prefixBytesMax && Buffer.byteLength(rest) <= nameBytesMax)
      return { prefix, rest };
  }
  throw new Error(`name too long for tar: ${name}`);
}

function header(entry: TarEntry): Buffer {
  const { mode, uid = 0, gid = 0, linkTo = '', content } = entry;
  if (Buffer.byteLength(linkTo) > nameBytesMax) throw new Error(`name too long for tar: ${linkTo}`);
  const { prefix, rest: name } = parted(entry.name);
  const block = Buffer.alloc(blockBytes);
  const type = entry.linkTo !== undefined ? '2' : content === undefined ? '5' : '0';
  const fields: [number, string][] = [
    [0, name],
    [100, octal(mode, 8)],
    [108, octal(uid, 8)],
    [116, octal(gid, 8)],
    [124, octal(content?.length ?? 0, 12)],
    [136, octal(0, 12)],
    [148, ' '.repeat(8)],
    [156, type],
    [157, linkTo],
    [257, 'ustar\x0000'],
    [345, prefix],
  ];
  for (const [at, text] of fields) block.write(text, at, 'utf8');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** The archive, closed by two empty blocks. Throws for names that are too long. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if (!entry.content?.length) continue;
    parts.push(entry.content);
    const rest = entry.content.length % blockBytes;
    if (rest > 0) parts.push(Buffer.alloc(blockBytes - rest));
  }
  parts.push(Buffer.alloc(2 * blockBytes));
  return Buffer.concat(parts);
}
