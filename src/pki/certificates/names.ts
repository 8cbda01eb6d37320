// Distinguished names and alternative names (RFC 5280 sections 4.1.2.4 and 4.2.1.6).
import { isIPv4, isIPv6 } from 'node:net';
import { children, type DerValue, readObjectId, readString, sequenceItems } from '../der/decode.ts';
import { implicit, objectId, printableString, sequence, setOf, utf8String } from '../der/encode.ts';
import { PkiError } from '../errors.ts';

const oidCommonName = '2.5.4.3';
const oidOrganization = '2.5.4.10';
const oidOrganizationalUnit = '2.5.4.11';

/** The part of a subject or issuer that Kubernetes uses: the user is the CN, the groups are the Os. */
export interface DistinguishedName {
  commonName: string;
  organizations: string[];
  organizationalUnits: string[];
}

export interface AlternativeNames {
  dnsNames: string[];
  /** Textual addresses. */
  ips: string[];
  emails: string[];
  uris: string[];
}

const isPrintable = (text: string): boolean => /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text);
const directoryString = (text: string): Buffer => (isPrintable(text) ? printableString(text) : utf8String(text));
const attribute = (oid: string, text: string): Buffer => sequence(objectId(oid), directoryString(text));

/** One RDN per type, several organizations in one set, as Go's pkix does. */
export function encodeName({ commonName, organizations }: { commonName: string; organizations: readonly string[] }): Buffer {
  const parts: Buffer[] = [];
  if (organizations.length > 0) parts.push(setOf(...organizations.map((name) => attribute(oidOrganization, name))));
  if (commonName !== '') parts.push(setOf(attribute(oidCommonName, commonName)));
  return sequence(...parts);
}

export function decodeName(value: DerValue | undefined): DistinguishedName {
  const name: DistinguishedName = { commonName: '', organizations: [], organizationalUnits: [] };
  for (const rdn of sequenceItems(value, 'name')) {
    for (const pair of children(rdn)) {
      const [type, text] = sequenceItems(pair, 'name attribute');
      const oid = readObjectId(type, 'name attribute');
      if (oid === oidCommonName) name.commonName = readString(text, 'common name');
      else if (oid === oidOrganization) name.organizations.push(readString(text, 'organization'));
      else if (oid === oidOrganizationalUnit) name.organizationalUnits.push(readString(text, 'organizational unit'));
    }
  }
  return name;
}

function ipv6Octets(text: string): Buffer {
  const [headText = '', tailText] = text.split('%')[0]?.split('::') ?? [];
  const words = (part: string): number[] =>
    part === ''
      ? []
      : part.split(':').flatMap((word) => {
          if (!word.includes('.')) return [Number.parseInt(word, 16)];
          const [a = 0, b = 0, c = 0, d = 0] = word.split('.').map(Number);
          return [(a << 8) | b, (c << 8) | d];
        });
  const head = words(headText);
  const tail = tailText === undefined ? [] : words(tailText);
  const all = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  const octets = Buffer.alloc(16);
  all.forEach((word, index) => octets.writeUInt16BE(word, index * 2));
  return octets;
}

/** The 4 or 16 octets of an address. */
export function ipOctets(text: string): Buffer {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (isIPv6(text)) return ipv6Octets(text);
  throw new PkiError(`invalid IP address "${text}"`);
}

/** The textual form; IPv6 in the compressed form of RFC 5952. */
export function ipText(octets: Buffer): string {
  if (octets.length === 4) return octets.join('.');
  if (octets.length !== 16) throw new PkiError('x509: cannot parse IP address');
  const words = Array.from({ length: 8 }, (_, index) => octets.readUInt16BE(index * 2).toString(16));
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1);
}

/** The content of the subjectAltName extension. */
export const encodeAlternativeNames = ({ dnsNames, ips, emails, uris }: AlternativeNames): Buffer =>
  sequence(
    ...emails.map((name) => implicit(1, Buffer.from(name, 'latin1'))),
    ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'latin1'))),
    ...ips.map((ip) => implicit(7, ipOctets(ip))),
    ...uris.map((uri) => implicit(6, Buffer.from(uri, 'latin1'))),
  );

export function decodeAlternativeNames(value: DerValue): AlternativeNames {
  const names: AlternativeNames = { dnsNames: [], ips: [], emails: [], uris: [] };
  for (const { type, content } of sequenceItems(value, 'subject alternative name')) {
    if (type === 0x81) names.emails.push(content.toString('latin1'));
    else if (type === 0x82) names.dnsNames.push(content.toString('latin1'));
    else if (type === 0x86) names.uris.push(content.toString('latin1'));
    else if (type === 0x87) names.ips.push(ipText(content));
  }
  return names;
}
