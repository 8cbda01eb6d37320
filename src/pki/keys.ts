// Keys as files have them: read, written, compared and named.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { PkiError } from './errors.ts';

/** PEM as Kubernetes' tools write it: `EC PRIVATE KEY` or `RSA PRIVATE KEY`. */
export const privateKeyPem = (key: KeyObject): string =>
  (key.asymmetricKeyType === 'rsa'
    ? key.export({ type: 'pkcs1', format: 'pem' })
    : key.export({ type: key.asymmetricKeyType === 'ec' ? 'sec1' : 'pkcs8', format: 'pem' })) as string;

/** The PEM block `PUBLIC KEY` of a key (SubjectPublicKeyInfo). */
export const publicKeyPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;

/** The public key in DER, as SubjectPublicKeyInfo. */
export const publicKeyDer = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }) as Buffer;

/** Reads a private key from PEM, in any of the forms that are not encrypted. */
export function parsePrivateKey(pem: string | Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new PkiError('data does not contain a valid RSA or ECDSA private key', { cause: error });
  }
}

/** Whether a private key, in PEM, is that of a public key. */
export function isKeyOf(pem: string | Buffer, publicKey: KeyObject): boolean {
  try {
    return publicKeyDer(createPublicKey(createPrivateKey(pem))).equals(publicKeyDer(publicKey));
  } catch {
    return false;
  }
}

/** Every public key in a file: from `PUBLIC KEY`, `RSA PUBLIC KEY`, `CERTIFICATE` and private key blocks (keyutil.PublicKeysFromFile). */
export function parsePublicKeys(pem: string | Buffer): KeyObject[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  const keys = blocks.flatMap((block) => {
    if (/BEGIN EC PARAMETERS/.test(block)) return [];
    try {
      return [createPublicKey(block)];
    } catch {
      return [];
    }
  });
  if (keys.length === 0) throw new PkiError('data does not contain any valid RSA or ECDSA public keys');
  return keys;
}

/** The key id upstream gives service-account keys: unpadded base64url of the SHA-256 of the DER public key. */
export const keyId = (publicKey: KeyObject): string => createHash('sha256').update(publicKeyDer(publicKey)).digest('base64url');
