// The hash that shows whether a running container still is the one of the spec: name and image only (upstream container/helpers.go pickFieldsToHash).
// 32-bit FNV-1a, in lower-case hexadecimal as the runtime's annotation holds it.
import type { Container } from '#api/core/v1';

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

function fnv1a(text: string): number {
  let hash = offsetBasis;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, prime) >>> 0;
  return hash;
}

const known = new WeakMap<Container, string>();

export function hashContainer(container: Container): string {
  let hash = known.get(container);
  if (hash === undefined) {
    hash = fnv1a(JSON.stringify({ image: container.image ?? '', name: container.name })).toString(16);
    known.set(container, hash);
  }
  return hash;
}
