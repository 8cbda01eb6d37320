// Unguessable strings: bearer tokens, bootstrap tokens, one-time streaming tokens.
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/** A new token: so many random octets, as unpadded base64url. */
export const randomToken = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/** A random text of so many characters of `alphabet`, each equally likely. */
export const randomString = (length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Makes a bootstrap token such as `abcdef.0123456789abcdef` (KEP-130). */
export const bootstrapToken = (): string => `${randomString(6)}.${randomString(16)}`;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares secrets without telling by time how much of them matches. */
export const secretsEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
