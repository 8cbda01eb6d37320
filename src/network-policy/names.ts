// Names of chains and sets: a hash, so that nothing that a user chose gets into nft's input unchecked.
import { createHash } from 'node:crypto';

const hexDigits = 24;

/** `about` must say everything that makes it different from others. */
export const hashedName = (prefix: string, about: unknown): string =>
  `${prefix}-${createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, hexDigits)}`;

/** The text where it is a name that the API would take, else nothing. */
export const commentOf = (text: string): { comment?: string } =>
  /^[a-z0-9][a-z0-9./-]{0,110}$/.test(text) ? { comment: text } : {};
