// Signature algorithms of certificates and requests (RFC 5758, RFC 4055).
import { type KeyObject, sign, verify } from 'node:crypto';
import { readObjectId, sequenceItems, type DerValue } from '../der/decode.ts';
import { nullValue, objectId, sequence } from '../der/encode.ts';
import { PkiError } from '../errors.ts';

const ecdsaSha256 = '1.2.840.10045.4.3.2';
const rsaSha256 = '1.2.840.113549.1.1.11';
const ed25519 = '1.3.101.112';

const hashes: Record<string, string | null> = {
  [ecdsaSha256]: 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  [rsaSha256]: 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  [ed25519]: null,
};

/** The AlgorithmIdentifier of signatures by this key. */
export function signatureAlgorithm(key: KeyObject): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return sequence(objectId(ecdsaSha256));
    case 'rsa':
      return sequence(objectId(rsaSha256), nullValue());
    case 'ed25519':
      return sequence(objectId(ed25519));
    default:
      throw new PkiError(`x509: cannot sign with a key of type ${key.asymmetricKeyType}`);
  }
}

export const signBytes = (bytes: Buffer, key: KeyObject): Buffer =>
  sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key);

/** Whether `signature` is `key`'s over `bytes`, by the algorithm named in `algorithm`. */
export function verifyBytes(bytes: Buffer, algorithm: DerValue | undefined, key: KeyObject, signature: Buffer): boolean {
  const id = readObjectId(sequenceItems(algorithm, 'signature algorithm')[0], 'signature algorithm');
  const hash = hashes[id];
  if (hash === undefined) throw new PkiError('x509: cannot verify signature: algorithm unimplemented');
  try {
    return verify(hash, bytes, key, signature);
  } catch {
    return false;
  }
}
