// Numbers for ids where the kernel wants small numbers: by hash, so that others coming and going leave a number as it is.

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

/** A number below `count` for each id, no two the same. There must not be more ids than numbers. */
export function stableNumbers(ids: Iterable<string>, count: number): Map<string, number> {
  const taken = new Set<number>();
  const numbers = new Map<string, number>();
  for (const id of [...ids].sort()) {
    let number = hash(id) % count;
    while (taken.has(number)) number = (number + 1) % count;
    taken.add(number);
    numbers.set(id, number);
  }
  return numbers;
}
