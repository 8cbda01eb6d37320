// Digests that are names: the objects that upstream's code names after a hash must have the same names here.
import { createHash } from 'node:crypto';

/** Hexadecimal SHA-256 of the text's UTF-8 bytes. */
export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');
