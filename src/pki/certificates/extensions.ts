// X.509 v3 extensions (RFC 5280 section 4.2): encoding of those we set, decoding of those anybody asks about.
import { children, type DerValue, decode, expectType, readBitString, readObjectId, sequenceItems } from '../der/decode.ts';
import { bitString, boolean, implicit, objectId, octetString, sequence, smallInteger, tag } from '../der/encode.ts';
import { PkiError } from '../errors.ts';
import { type AlternativeNames, decodeAlternativeNames, encodeAlternativeNames } from './names.ts';

/** What a key may be used for, by the names of KeyUsage in certificates.k8s.io/v1. */
export type KeyUsage =
  | 'signing'
  | 'digital signature'
  | 'content commitment'
  | 'key encipherment'
  | 'key agreement'
  | 'data encipherment'
  | 'cert sign'
  | 'crl sign'
  | 'encipher only'
  | 'decipher only';
export type ExtendedKeyUsage =
  | 'any'
  | 'server auth'
  | 'client auth'
  | 'code signing'
  | 'email protection'
  | 's/mime'
  | 'ipsec end system'
  | 'ipsec tunnel'
  | 'ipsec user'
  | 'timestamping'
  | 'ocsp signing'
  | 'microsoft sgc'
  | 'netscape sgc';
export type Usage = KeyUsage | ExtendedKeyUsage;

export const oid = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

const keyUsageBits: Record<KeyUsage, number> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

const extendedUsageIds: Record<ExtendedKeyUsage, string> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

// The first name of an id is the one reported when reading.
const usageOfId = new Map(
  Object.entries(extendedUsageIds)
    .toReversed()
    .map(([name, id]) => [id, name as ExtendedKeyUsage]),
);
const bitUsages = Object.entries(keyUsageBits).filter(([name]) => name !== 'signing') as [KeyUsage, number][];

const isKeyUsage = (usage: string): usage is KeyUsage => Object.hasOwn(keyUsageBits, usage);

const extension = (id: string, critical: boolean, content: Buffer): Buffer =>
  critical ? sequence(objectId(id), boolean(true), octetString(content)) : sequence(objectId(id), octetString(content));

function keyUsageExtension(usages: readonly KeyUsage[]): Buffer {
  const bits = usages.reduce((mask, usage) => mask | (1 << (15 - keyUsageBits[usage])), 0);
  const octets = bits & 0xff ? Buffer.from([bits >> 8, bits & 0xff]) : Buffer.from([bits >> 8]);
  const last = octets.at(-1) as number;
  const unusedBits = last === 0 ? 0 : 31 - Math.clz32(last & -last);
  return extension(oid.keyUsage, true, bitString(octets, unusedBits));
}

export interface ExtensionInput {
  usages: readonly Usage[];
  names: AlternativeNames;
  /** Set: basicConstraints is written. */
  isCa?: boolean;
  maxPathLength?: number;
  subjectKeyId?: Buffer;
  authorityKeyId?: Buffer;
  /** RFC 5280: a certificate without a subject has critical alternative names. */
  emptySubject?: boolean;
}

/** Encodes the extensions of a certificate (SEQUENCE OF Extension). Throws `PkiError` for an unknown usage. */
export function encodeExtensions(input: ExtensionInput): Buffer {
  const list: Buffer[] = [];
  const keyUsages = input.usages.filter(isKeyUsage);
  const extendedIds = input.usages.flatMap((usage) => {
    if (isKeyUsage(usage)) return [];
    const id = extendedUsageIds[usage];
    if (id === undefined) throw new PkiError(`unrecognized usage ${JSON.stringify(usage)}`);
    return [id];
  });
  if (keyUsages.length > 0) list.push(keyUsageExtension(keyUsages));
  if (extendedIds.length > 0)
    list.push(extension(oid.extendedKeyUsage, false, sequence(...[...new Set(extendedIds)].map(objectId))));
  if (input.isCa !== undefined) {
    const path = input.maxPathLength === undefined ? [] : [smallInteger(input.maxPathLength)];
    list.push(extension(oid.basicConstraints, true, input.isCa ? sequence(boolean(true), ...path) : sequence()));
  }
  if (input.subjectKeyId) list.push(extension(oid.subjectKeyId, false, octetString(input.subjectKeyId)));
  if (input.authorityKeyId) list.push(extension(oid.authorityKeyId, false, sequence(implicit(0, input.authorityKeyId))));
  const { names } = input;
  if (names.dnsNames.length + names.ips.length + names.emails.length + names.uris.length > 0) {
    list.push(extension(oid.subjectAltName, input.emptySubject ?? false, encodeAlternativeNames(names)));
  }
  return sequence(...list);
}

export interface DecodedExtensions {
  usages: Usage[];
  names: AlternativeNames;
  isCa: boolean;
  subjectKeyId?: Buffer;
}

function decodeKeyUsage(value: DerValue): KeyUsage[] {
  const { bits } = readBitString(value, 'key usage');
  const mask = ((bits[0] ?? 0) << 8) | (bits[1] ?? 0);
  return bitUsages.filter(([, bit]) => mask & (1 << (15 - bit))).map(([name]) => name);
}

/** Reads the extensions of a certificate, and skips those that are not known here. */
export function decodeExtensions(value: DerValue): DecodedExtensions {
  const result: DecodedExtensions = { usages: [], names: { dnsNames: [], ips: [], emails: [], uris: [] }, isCa: false };
  for (const item of sequenceItems(value, 'extensions')) {
    const parts = children(item);
    const id = readObjectId(parts[0], 'extension');
    const content = expectType(parts.at(-1), tag.octetString, 'extension').content;
    if (id === oid.keyUsage) result.usages.unshift(...decodeKeyUsage(decode(content)));
    else if (id === oid.extendedKeyUsage) {
      const ids = sequenceItems(decode(content), 'extended key usage').map((one) => readObjectId(one, 'extended key usage'));
      result.usages.push(...ids.flatMap((one) => usageOfId.get(one) ?? []));
    } else if (id === oid.subjectAltName) result.names = decodeAlternativeNames(decode(content));
    else if (id === oid.basicConstraints) {
      const first = sequenceItems(decode(content), 'basic constraints')[0];
      result.isCa = first?.type === tag.boolean && first.content[0] !== 0;
    } else if (id === oid.subjectKeyId)
      result.subjectKeyId = expectType(decode(content), tag.octetString, 'subject key id').content;
  }
  return result;
}
