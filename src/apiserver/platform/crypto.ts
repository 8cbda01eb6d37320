// Digests, ciphers and chance of cryptographic strength.
export {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
