// Digests that are names: the objects that upstream's code names after a hash must have the same names here.
import { createHash } from 'node:crypto';

/** Hexadecimal SHA-256 of some bytes, or of a text's in UTF-8. */
export const sha256Hex = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
