// Distinguished Encoding Rules (ITU-T X.690), the part that X.509 needs. Certificates are made with this and node:crypto alone: a whole
// cluster's set costs a few milliseconds at start, where loading an ASN.1 library would cost more than the work.

const constructed = 0x20;
export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  nullValue: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x10 | constructed,
  set: 0x11 | constructed,
} as const;

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const octets: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest & 0xff);
  return Buffer.from([0x80 | octets.length, ...octets]);
}

/** Encodes one value as tag, length and contents. */
export const tlv = (type: number, ...content: Uint8Array[]): Buffer => {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([type]), lengthOf(length), ...content]);
};

export const sequence = (...items: Uint8Array[]): Buffer => tlv(tag.sequence, ...items);
/** Encodes a SET OF, whose elements DER orders by their bytes. */
export const setOf = (...items: Uint8Array[]): Buffer => tlv(tag.set, ...items.toSorted((a, b) => Buffer.compare(a, b)));
/** Encodes values inside an explicit tag `[n]`. */
export const explicit = (n: number, ...items: Uint8Array[]): Buffer => tlv(0xa0 | n, ...items);
/** Encodes a primitive value with an implicit tag `[n]`. */
export const implicit = (n: number, content: Uint8Array): Buffer => tlv(0x80 | n, content);
export const boolean = (value: boolean): Buffer => tlv(tag.boolean, Buffer.from([value ? 0xff : 0]));
export const nullValue = (): Buffer => tlv(tag.nullValue);
export const octetString = (content: Uint8Array): Buffer => tlv(tag.octetString, content);
/** `unusedBits` of the last octet are not part of the string. */
export const bitString = (content: Uint8Array, unusedBits = 0): Buffer => tlv(tag.bitString, Buffer.from([unusedBits]), content);
export const utf8String = (text: string): Buffer => tlv(tag.utf8String, Buffer.from(text, 'utf8'));
export const printableString = (text: string): Buffer => tlv(tag.printableString, Buffer.from(text, 'latin1'));

/** A non-negative integer from its big-endian octets. */
export function unsignedInteger(octets: Uint8Array): Buffer {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0) start++;
  const trimmed = octets.subarray(start);
  const first = trimmed[0] ?? 0;
  return first & 0x80
    ? tlv(tag.integer, Buffer.from([0]), trimmed)
    : tlv(tag.integer, trimmed.length > 0 ? trimmed : Buffer.from([0]));
}

export const smallInteger = (value: number): Buffer => unsignedInteger(Buffer.from([(value >>> 8) & 0xff, value & 0xff]));

function base128(value: number): number[] {
  const groups = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift((rest & 0x7f) | 0x80);
  return groups;
}

/** An object identifier from its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(tag.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 section 4.1.2.5); seconds, UTC. */
export function time(unixMs: number): Buffer {
  const digits = new Date(unixMs)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  const year = Number(digits.slice(0, 4));
  return year < 2050
    ? tlv(tag.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : tlv(tag.generalizedTime, Buffer.from(digits, 'latin1'));
}
