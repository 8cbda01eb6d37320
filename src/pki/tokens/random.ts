// Unguessable strings: bearer tokens, bootstrap tokens, one-time streaming tokens.
import { randomBytes, randomInt } from 'node:crypto';

/** A new token: so many random octets, as unpadded base64url. */
export const randomToken = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/** A random text of so many characters of `alphabet`, each equally likely. */
export const randomString = (length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Makes a bootstrap token such as `abcdef.0123456789abcdef` (KEP-130). */
export const bootstrapToken = (): string => `${randomString(6)}.${randomString(16)}`;
