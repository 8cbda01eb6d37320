// The hash behind pod-template-hash and revision names (pkg/controller ComputeHash, k8s.io/apimachinery/pkg/util/rand SafeEncodeString).
// Upstream hashes a dump of Go structs, which nothing outside Go can repeat; what counts is that equal templates hash alike.
import { sortedJson } from '#apimachinery/codec';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const offset = 0x811c9dc5;
const prime = 0x01000193;

/** The FNV-1a hash of 32 bits over the UTF-16 code units of a text. */
export function fnv32a(text: string): number {
  let hash = offset;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

/** A text in letters and digits that spell no words. */
export const safeEncode = (text: string): string =>
  Array.from(text, (character) => alphabet[character.charCodeAt(0) % alphabet.length]).join('');

/** A short name for a value; `collisionCount` gives another one when that name is taken. */
export const stableHash = (value: unknown, collisionCount?: number): string =>
  safeEncode(String(fnv32a(`${sortedJson(value)}${collisionCount === undefined ? '' : `#${collisionCount}`}`)));
