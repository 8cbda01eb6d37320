// Reading certificates. Names are decoded from the DER itself: a printed subject can be made to lie about CN and O.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { decode, expectType, readBitString, readTime, sequenceItems } from '../der/decode.ts';
import { tag } from '../der/encode.ts';
import { PkiError } from '../errors.ts';
import { parsePem } from '../pem.ts';
import { type DecodedExtensions, decodeExtensions, type Usage } from './extensions.ts';
import { type AlternativeNames, decodeName, type DistinguishedName } from './names.ts';
import { verifyBytes } from './signature.ts';

export interface ParsedCertificate extends AlternativeNames {
  subject: DistinguishedName;
  issuer: DistinguishedName;
  /** Hexadecimal, lower case. */
  serialNumber: string;
  /** Unix milliseconds. */
  notBefore: number;
  notAfter: number;
  usages: Usage[];
  isCa: boolean;
  /** 1, 2 or 3. */
  version: number;
  publicKey: KeyObject;
  subjectKeyId?: Buffer;
  /** DER of the subject's name: the issuer field of what it signs. */
  subjectDer: Buffer;
  issuerDer: Buffer;
  /** Hexadecimal SHA-256 of the whole certificate. */
  fingerprint: string;
  raw: Buffer;
}

const noExtensions: DecodedExtensions = { usages: [], names: { dnsNames: [], ips: [], emails: [], uris: [] }, isCa: false };

/** Reads a certificate in DER. Throws `PkiError` for bytes that are not one. */
export function parseCertificateDer(der: Buffer): ParsedCertificate {
  const [body] = sequenceItems(decode(der), 'certificate');
  const items = sequenceItems(body, 'certificate');
  // The version is explicit [0]; version 1 certificates leave it out.
  const explicit = items[0]?.type === 0xa0 ? items[0] : undefined;
  const version = explicit ? 1 + (expectType(decode(explicit.content), tag.integer, 'version').content.at(-1) ?? 0) : 1;
  const fields = explicit ? items.slice(1) : items;
  const [serial, , issuer, validity, subject, publicKeyInfo] = fields;
  const [notBefore, notAfter] = sequenceItems(validity, 'validity');
  const extensions = items.find((item) => item.type === 0xa3);
  const decoded = extensions ? decodeExtensions(decode(extensions.content)) : noExtensions;
  if (!issuer || !subject || !publicKeyInfo) throw new PkiError('x509: malformed certificate');
  return {
    subject: decodeName(subject),
    issuer: decodeName(issuer),
    serialNumber: expectType(serial, tag.integer, 'serial number').content.toString('hex'),
    notBefore: readTime(notBefore, 'validity'),
    notAfter: readTime(notAfter, 'validity'),
    usages: decoded.usages,
    ...decoded.names,
    isCa: decoded.isCa,
    version,
    publicKey: readPublicKey(publicKeyInfo.raw),
    ...(decoded.subjectKeyId && { subjectKeyId: decoded.subjectKeyId }),
    subjectDer: subject.raw,
    issuerDer: issuer.raw,
    fingerprint: createHash('sha256').update(der).digest('hex'),
    raw: der,
  };
}

export function readPublicKey(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch (error) {
    throw new PkiError('x509: unsupported public key', { cause: error });
  }
}

/** All certificates of a PEM bundle, in order. Throws `PkiError` when there is none or one is malformed. */
export function parseCertificates(pem: string | Buffer): ParsedCertificate[] {
  const blocks = parsePem(pem).filter((block) => block.label === 'CERTIFICATE');
  if (blocks.length === 0) throw new PkiError('data does not contain any valid RSA or ECDSA certificates');
  return blocks.map((block) => parseCertificateDer(block.bytes));
}

/** The first certificate of a PEM bundle. */
export const parseCertificate = (pem: string | Buffer): ParsedCertificate => parseCertificates(pem)[0] as ParsedCertificate;

/**
 * Whether a certificate that is trusted may have issued others, as Go has it: those before version 3 cannot say that they are authorities. One that is
 * merely presented has to say so.
 */
export const isTrustedIssuer = ({ isCa, version }: ParsedCertificate): boolean => isCa || version < 3;

/** Whether `issuer` signed `certificate` (names and signature; not validity). */
export function isSignedBy(certificate: ParsedCertificate, issuer: ParsedCertificate): boolean {
  if (!certificate.issuerDer.equals(issuer.subjectDer)) return false;
  const [body, algorithm, signature] = sequenceItems(decode(certificate.raw), 'certificate');
  if (!body) throw new PkiError('x509: malformed certificate');
  return verifyBytes(body.raw, algorithm, issuer.publicKey, readBitString(signature, 'signature').bits);
}
