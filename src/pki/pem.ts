// Textual encodings (RFC 7468): the blocks of a PEM file.
import { PkiError } from './errors.ts';
import { limits } from './limits.ts';

export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`, ... */
  label: string;
  bytes: Buffer;
}

const blockPattern = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/g;

/** All blocks, in order; text between them is ignored, as in Go. */
export function parsePem(text: string | Buffer): PemBlock[] {
  if (text.length > limits.pemBytesMax) throw new PkiError('PEM data too large');
  return [...text.toString('latin1').matchAll(blockPattern)].map(([, label = '', body = '']) => ({
    label,
    // Headers ("Proc-Type: ...") end with an empty line; what follows is the data.
    bytes: Buffer.from(body.includes(':') ? body.slice(body.search(/\r?\n\r?\n/) + 1) : body, 'base64'),
  }));
}

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
