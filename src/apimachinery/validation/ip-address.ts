// IP addresses and prefixes as numbers, with both readings upstream knows: the tolerant one of old fields (k8s.io/utils/net, "sloppy":
// leading zeros allowed) and the strict one of Go's net/netip.

export interface IPAddress {
  family: 4 | 6;
  /** 32 or 128 bits. An IPv4-mapped IPv6 address counts as family 6 here; `mapped` says so. */
  value: bigint;
  /** ::ffff:a.b.c.d, which prints and compares as IPv4. */
  mapped: boolean;
  /** Written with leading zeros: strict readers refuse it. */
  leadingZeros: boolean;
}

export interface IPPrefix {
  address: IPAddress;
  length: number;
  /** The address with the bits beyond the prefix cleared. */
  network: IPAddress;
  leadingZeros: boolean;
}

const mappedBase = 0xffffn << 32n;

const [dot, zero, nine] = [0x2e, 0x30, 0x39];

// One character after the other: objects may have tens of thousands of addresses.
function parseIPv4(text: string): IPAddress | undefined {
  let [value, part, digits, dots, leadingZeros] = [0, 0, 0, 0, false];
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : dot;
    if (code === dot) {
      if (digits === 0 || ++dots > 4) return undefined;
      value = value * 256 + part;
      [part, digits] = [0, 0];
    } else if (code >= zero && code <= nine) {
      leadingZeros ||= digits === 1 && part === 0;
      part = part * 10 + code - zero;
      digits++;
      if (part > 255) return undefined;
    } else return undefined;
  }
  return dots === 4 ? { family: 4, value: BigInt(value), mapped: false, leadingZeros } : undefined;
}

interface Groups {
  values: number[];
  leadingZeros: boolean;
}

// The groups of one side of '::'. A dotted IPv4 part may end the address.
function parseGroups(text: string, last: boolean): Groups | undefined {
  if (text === '') return { values: [], leadingZeros: false };
  const parts = text.split(':');
  const values: number[] = [];
  let leadingZeros = false;
  for (const [i, part] of parts.entries()) {
    if (last && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseIPv4(part);
      if (v4 === undefined) return undefined;
      leadingZeros ||= v4.leadingZeros;
      values.push(Number(v4.value >> 16n), Number(v4.value & 0xffffn));
    } else {
      if (!/^[0-9a-fA-F]+$/.test(part) || Number.parseInt(part, 16) > 0xffff) return undefined;
      leadingZeros ||= part.length > 4;
      values.push(Number.parseInt(part, 16));
    }
  }
  return { values, leadingZeros };
}

function parseIPv6(text: string): IPAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : { values: [], leadingZeros: false };
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.values.length - tail.values.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head.values, ...new Array<number>(missing).fill(0), ...tail.values];
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return { family: 6, value, mapped: value >> 32n === 0xffffn, leadingZeros: head.leadingZeros || tail.leadingZeros };
}

/** Reads an address tolerantly; undefined when the text is not an address. Zones are refused. */
export const parseIP = (text: string): IPAddress | undefined => (text.includes(':') ? parseIPv6(text) : parseIPv4(text));

/** Reads `address/length` as tolerantly as `parseIP` reads addresses; undefined where the text is no such range. */
export function parseCIDR(text: string): IPPrefix | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIP(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^[0-9]{1,6}$/.test(digits)) return undefined;
  const bits = address.family === 4 ? 32 : 128;
  const length = Number(digits);
  if (length > bits) return undefined;
  const host = BigInt(bits - length);
  const value = (address.value >> host) << host;
  const network = { ...address, value, mapped: address.family === 6 && value >> 32n === 0xffffn };
  return { address, length, network, leadingZeros: address.leadingZeros || (digits.length > 1 && digits.startsWith('0')) };
}

function dotted(value: bigint): string {
  const bits = Number(value & 0xffffffffn);
  return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
}

// RFC 5952: lower case, the longest run of at least two zero groups as '::'.
function colons(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === '0') end++;
    if (end - i > best.length) best = { start: i, length: end - i };
  }
  if (best.start < 0) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}

/** The canonical text; mapped addresses print as IPv4. */
export function ipText({ family, value, mapped }: IPAddress): string {
  if (family === 4) return dotted(value);
  return mapped ? dotted(value - mappedBase) : colons(value);
}

/** The canonical text of the network. */
export const cidrText = ({ network, length }: IPPrefix): string => `${ipText(network)}/${length}`;

/** Which family a reader of Kubernetes takes the address for. */
export const ipFamily = (ip: IPAddress): 4 | 6 => (ip.mapped ? 4 : ip.family);
