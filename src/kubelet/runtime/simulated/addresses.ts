// Pod addresses out of a node's pod CIDRs, one per family. Freed addresses are used again last.

interface Range {
  base: bigint;
  bits: number;
  /** Host addresses that may be given: without network and gateway address, for IPv4 without broadcast. */
  count: number;
  v6: boolean;
}

const countMax = 1 << 16;

function parseV6(text: string): bigint {
  const [head = '', tail] = text.split('::');
  const words = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = words(head);
  const after = words(tail ?? '');
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, word) => (sum << 16n) | BigInt(`0x${word || '0'}`), 0n);
}

function formatV6(value: bigint): string {
  const words = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16));
  const text = words.join(':');
  const zeros = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)[0];
  if (zeros === undefined) return text;
  const before = text.slice(0, zeros.index);
  return `${before}::${text.slice(zeros.index + zeros[0].length).replace(/^:/, '')}`;
}

const parseV4 = (text: string): bigint => text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
const formatV4 = (value: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

function parseRange(cidr: string): Range {
  const [address = '', length = ''] = cidr.split('/');
  const v6 = address.includes(':');
  const bits = (v6 ? 128 : 32) - Number(length);
  const mask = (1n << BigInt(bits)) - 1n;
  const base = (v6 ? parseV6(address) : parseV4(address)) & ~mask;
  const size = bits > 16 ? countMax : 2 ** bits;
  return { base, bits, count: Math.max(0, size - (v6 ? 2 : 3)), v6 };
}

/** Hands out the addresses of one CIDR. */
export class AddressPool {
  readonly #range: Range;
  readonly #used = new Set<number>();
  #next = 0;

  constructor(cidr: string) {
    this.#range = parseRange(cidr);
  }
  /** The next free address; undefined when all are taken. */
  allocate(): string | undefined {
    const { count, base, v6 } = this.#range;
    if (this.#used.size >= count) return undefined;
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % count;
    const offset = this.#next;
    this.#used.add(offset);
    this.#next = (offset + 1) % count;
    const value = base + BigInt(offset + 2);
    return v6 ? formatV6(value) : formatV4(value);
  }
  release(address: string): void {
    const { base, v6 } = this.#range;
    if (address.includes(':') === v6) this.#used.delete(Number((v6 ? parseV6(address) : parseV4(address)) - base) - 2);
  }
}
