// Whether two secrets are the same one.
import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares secrets without telling by time how much of them matches. */
export const secretsEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
