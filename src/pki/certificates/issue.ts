// Issuing certificates (RFC 5280): the cluster's authority and everything it signs.
import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Clock } from '#utils';
import { systemClock } from '#host';
import { bitString, explicit, sequence, smallInteger, time, unsignedInteger } from '../der/encode.ts';
import { PkiError } from '../errors.ts';
import { encodePem } from '../pem.ts';
import { isKeyOf, parsePrivateKey, privateKeyPem, publicKeyDer } from '../keys.ts';
import { generateKeyPair, type KeyAlgorithm } from '../key-pair.ts';
import { encodeExtensions, type Usage } from './extensions.ts';
import { encodeName } from './names.ts';
import { parseCertificate, type ParsedCertificate } from './parse.ts';
import { signatureAlgorithm, signBytes } from './signature.ts';

const dayMs = 86_400_000;
/** Certificates are valid a little before they are made, for machines whose clocks are behind (client-go/util/cert). */
const backdateMs = 5 * 60_000;

/** A certificate and its private key, as files hold them. */
export interface CertificateAndKey {
  /** PEM; a chain where there is one. */
  cert: string;
  /** PEM. */
  key: string;
}

/** An authority that can sign. */
export interface CertificateAuthority extends CertificateAndKey {
  readonly privateKey: KeyObject;
  readonly certificate: ParsedCertificate;
}

export interface CertificateAuthorityOptions {
  commonName: string;
  organizations?: readonly string[];
  /** Default 3650. */
  days?: number;
  clock?: Clock;
  algorithm?: KeyAlgorithm;
}

export interface SubjectOptions {
  commonName: string;
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  ips?: readonly string[];
  emails?: readonly string[];
  uris?: readonly string[];
}

export interface IssueOptions extends SubjectOptions {
  ca: CertificateAuthority;
  /** Usages in the names of certificates.k8s.io, for example `['digital signature', 'key encipherment', 'server auth']`. */
  usages: readonly Usage[];
  /** Validity from now; default 365. Ignored when `notAfter` is given. */
  days?: number;
  /** Unix milliseconds. */
  notBefore?: number;
  notAfter?: number;
  clock?: Clock;
  algorithm?: KeyAlgorithm;
}

interface CertificateInput {
  issuer: Buffer;
  subject: Buffer;
  /** SubjectPublicKeyInfo. */
  publicKey: Buffer;
  notBefore: number;
  notAfter: number;
  extensions: Buffer;
  signer: KeyObject;
}

function serialNumber(): Buffer {
  const octets = randomBytes(16);
  // Positive and never zero (RFC 5280 section 4.1.2.2).
  octets[0] = ((octets[0] as number) & 0x7f) | 0x40;
  return octets;
}

/** DER of a signed certificate. */
function signCertificate(input: CertificateInput): Buffer {
  const algorithm = signatureAlgorithm(input.signer);
  const body = sequence(
    explicit(0, smallInteger(2)),
    unsignedInteger(serialNumber()),
    algorithm,
    input.issuer,
    sequence(time(input.notBefore), time(input.notAfter)),
    input.subject,
    input.publicKey,
    explicit(3, input.extensions),
  );
  return sequence(body, algorithm, bitString(signBytes(body, input.signer)));
}

/** Method 1 of RFC 5280 section 4.2.1.2 over the whole SubjectPublicKeyInfo: any stable digest serves. */
const keyIdentifier = (keyDer: Buffer): Buffer => createHash('sha1').update(keyDer).digest();

/** Makes a new authority, which signs its own certificate. */
export function createCertificateAuthority(options: CertificateAuthorityOptions): CertificateAuthority {
  const pair = generateKeyPair(options.algorithm);
  const { privateKey } = pair;
  const publicKey = publicKeyDer(pair.publicKey);
  const now = (options.clock ?? systemClock()).now();
  const name = encodeName({ commonName: options.commonName, organizations: options.organizations ?? [] });
  const extensions = encodeExtensions({
    usages: ['key encipherment', 'digital signature', 'cert sign'],
    names: { dnsNames: [options.commonName], ips: [], emails: [], uris: [] },
    isCa: true,
    subjectKeyId: keyIdentifier(publicKey),
  });
  const notAfter = now + (options.days ?? 3650) * dayMs;
  const der = signCertificate({
    issuer: name,
    subject: name,
    publicKey,
    notBefore: now - backdateMs,
    notAfter,
    extensions,
    signer: privateKey,
  });
  const cert = encodePem('CERTIFICATE', der);
  return { cert, key: privateKeyPem(privateKey), privateKey, certificate: parseCertificate(cert) };
}

/** An authority from its files. Throws `PkiError` when they are malformed or do not belong together. */
export function loadCertificateAuthority({ cert, key }: CertificateAndKey): CertificateAuthority {
  const [privateKey, certificate] = [parsePrivateKey(key), parseCertificate(cert)];
  if (!isKeyOf(key, certificate.publicKey)) throw new PkiError('private key does not match public key');
  return { cert, key, privateKey, certificate };
}

function certificateFor(options: IssueOptions, key: KeyObject): string {
  const publicKey = publicKeyDer(key);
  const now = (options.clock ?? systemClock()).now();
  const organizations = options.organizations ?? [];
  const extensions = encodeExtensions({
    usages: options.usages,
    names: {
      dnsNames: [...(options.dnsNames ?? [])],
      ips: [...(options.ips ?? [])],
      emails: [...(options.emails ?? [])],
      uris: [...(options.uris ?? [])],
    },
    isCa: false,
    subjectKeyId: keyIdentifier(publicKey),
    authorityKeyId: options.ca.certificate.subjectKeyId ?? keyIdentifier(publicKeyDer(createPublicKey(options.ca.privateKey))),
    emptySubject: options.commonName === '' && organizations.length === 0,
  });
  const der = signCertificate({
    issuer: options.ca.certificate.subjectDer,
    subject: encodeName({ commonName: options.commonName, organizations }),
    publicKey,
    notBefore: options.notBefore ?? now - backdateMs,
    notAfter: options.notAfter ?? now + (options.days ?? 365) * dayMs,
    extensions,
    signer: options.ca.privateKey,
  });
  return encodePem('CERTIFICATE', der);
}

/** A new key pair and a certificate for it. */
export function issueCertificate(options: IssueOptions): CertificateAndKey {
  const { privateKey, publicKey } = generateKeyPair(options.algorithm);
  return { cert: certificateFor(options, publicKey), key: privateKeyPem(privateKey) };
}

/** A certificate (PEM) for somebody else's public key, as the signing controllers make. */
export const issueCertificateForKey = (options: IssueOptions & { publicKey: KeyObject }): string =>
  certificateFor(options, options.publicKey);
