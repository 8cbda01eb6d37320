// Certificate signing requests (PKCS #10, RFC 2986), as the certificates.k8s.io API carries them.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { decode, children, readBitString, readObjectId, sequenceItems } from '../der/decode.ts';
import { bitString, explicit, objectId, sequence, setOf, smallInteger } from '../der/encode.ts';
import { PkiError } from '../errors.ts';
import { publicKeyDer } from '../keys.ts';
import { encodePem, findPem } from '../pem.ts';
import { decodeExtensions, encodeExtensions } from './extensions.ts';
import type { SubjectOptions } from './issue.ts';
import { type AlternativeNames, decodeName, type DistinguishedName, encodeName } from './names.ts';
import { readPublicKey } from './parse.ts';
import { signatureAlgorithm, signBytes, verifyBytes } from './signature.ts';

const oidExtensionRequest = '1.2.840.113549.1.9.14';

export interface CertificateRequest extends AlternativeNames {
  subject: DistinguishedName;
  publicKey: KeyObject;
}

/** Makes a request for a certificate in PEM, signed by `privateKey`. */
export function createCertificateRequest(options: SubjectOptions & { privateKey: KeyObject }): string {
  const names: AlternativeNames = {
    dnsNames: [...(options.dnsNames ?? [])],
    ips: [...(options.ips ?? [])],
    emails: [...(options.emails ?? [])],
    uris: [...(options.uris ?? [])],
  };
  const hasNames = Object.values(names).some((list) => list.length > 0);
  const attributes = hasNames ? [sequence(objectId(oidExtensionRequest), setOf(encodeExtensions({ usages: [], names })))] : [];
  const body = sequence(
    smallInteger(0),
    encodeName({ commonName: options.commonName, organizations: options.organizations ?? [] }),
    publicKeyDer(createPublicKey(options.privateKey)),
    explicit(0, ...attributes),
  );
  const der = sequence(body, signatureAlgorithm(options.privateKey), bitString(signBytes(body, options.privateKey)));
  return encodePem('CERTIFICATE REQUEST', der);
}

/** Parses a PEM request and checks that its sender holds the key. Throws `PkiError`. */
export function parseCertificateRequest(pem: string | Buffer): CertificateRequest {
  const [body, algorithm, signature] = sequenceItems(decode(findPem(pem, 'CERTIFICATE REQUEST')), 'certificate request');
  const [, subject, publicKeyInfo, attributes] = sequenceItems(body, 'certificate request');
  if (!body || !publicKeyInfo) throw new PkiError('x509: malformed certificate request');
  const publicKey = readPublicKey(publicKeyInfo.raw);
  if (!verifyBytes(body.raw, algorithm, publicKey, readBitString(signature, 'signature').bits)) {
    throw new PkiError('x509: certificate request signature is not valid');
  }
  let names: AlternativeNames = { dnsNames: [], ips: [], emails: [], uris: [] };
  for (const attribute of attributes ? children(attributes) : []) {
    const [type, values] = sequenceItems(attribute, 'attribute');
    const extensions = values && children(values)[0];
    if (readObjectId(type, 'attribute') === oidExtensionRequest && extensions) names = decodeExtensions(extensions).names;
  }
  return { subject: decodeName(subject), publicKey, ...names };
}
