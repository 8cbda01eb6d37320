// Textual encodings (RFC 7468): the blocks of a PEM file.
import { PkiError } from './errors.ts';
import { limits } from './limits.ts';

export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`, ... */
  label: string;
  bytes: Buffer;
}

const beginPattern = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n/g;
const endPattern = /-----END ([A-Z0-9 ]+)(?=-----)/g;
const dashes = 5;

/** All blocks, in order; text between them, and a beginning without its end, is ignored, as in Go. */
export function parsePem(data: string | Buffer): PemBlock[] {
  if (data.length > limits.pemBytesMax) throw new PkiError('PEM data too large');
  const text = data.toString('latin1');
  const blocks: PemBlock[] = [];
  const ends = endsOf(text);
  let over = 0;
  for (const { 0: line, 1: label = '', index } of text.matchAll(beginPattern)) {
    if (index < over) continue;
    const start = index + line.length;
    const end = ends(label, start);
    if (end === undefined) continue;
    blocks.push({ label, bytes: bytesOf(text.slice(start, end.index)) });
    over = end.index + end.length;
  }
  return blocks;
}

/** Where the first end of a label is, from a place on; places are asked for upwards, so that all questions together cost one look at the text. */
function endsOf(text: string): (label: string, from: number) => { index: number; length: number } | undefined {
  const found = new Map<string, { places: number[]; next: number }>();
  for (const { 1: label = '', index } of text.matchAll(endPattern)) {
    const known = found.get(label);
    if (known) known.places.push(index);
    else found.set(label, { places: [index], next: 0 });
  }
  return (label, from) => {
    const ends = found.get(label);
    if (!ends) return undefined;
    while ((ends.places[ends.next] ?? Infinity) < from) ends.next++;
    const index = ends.places[ends.next];
    return index === undefined ? undefined : { index, length: `-----END ${label}`.length + dashes };
  };
}

/** Headers ("Proc-Type: ...") end with an empty line; what follows is the data. */
const bytesOf = (body: string): Buffer =>
  Buffer.from(body.includes(':') ? body.slice(body.search(/\r?\n\r?\n/) + 1) : body, 'base64');

/** The first block with this label. */
export function findPem(text: string | Buffer, label: string): Buffer {
  const block = parsePem(text).find((candidate) => candidate.label === label);
  if (block === undefined) throw new PkiError(`data does not contain a PEM block of type ${label}`);
  return block.bytes;
}

export function encodePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
