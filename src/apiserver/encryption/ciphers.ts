// The ciphers whose keys stand in the configuration, in the forms that upstream stores (k8s.io/apiserver/pkg/storage/value/encrypt):
// aescbc: IV, then PKCS#7-padded blocks; aesgcm: nonce, then ciphertext and tag, bound to the key in the store; secretbox: nonce, then a box.
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from '../platform/crypto.ts';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { Transformer } from './transformer.ts';

const tooShort = 'the stored data was shorter than the required size';
const blockBytes = 16;
const gcmNonceBytes = 12;
const gcmTagBytes = 16;
const boxNonceBytes = 24;
const boxTagBytes = 16;
const seedInfoBytes = 32;

/** Tells keys apart without telling them. */
const markOf = (secret: Uint8Array): string => createHash('sha256').update(secret).digest('base64url').slice(0, 16);

export function aesCbc(secret: Uint8Array): Transformer {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  const mark = markOf(secret);
  return {
    toStore(value) {
      const iv = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, secret, iv);
      return Buffer.concat([iv, cipher.update(value), cipher.final()]);
    },
    fromStore(stored) {
      if (stored.length < blockBytes) throw new Error(tooShort);
      if (stored.length === blockBytes || stored.length % blockBytes !== 0)
        throw new Error('the stored data is not a multiple of the block size');
      const decipher = createDecipheriv(algorithm, secret, stored.subarray(0, blockBytes));
      decipher.setAutoPadding(false);
      const padded = Buffer.concat([decipher.update(stored.subarray(blockBytes)), decipher.final()]);
      return { value: withoutPadding(padded), mark };
    },
    mark: () => mark,
  };
}

function withoutPadding(padded: Buffer): Buffer {
  const count = padded.at(-1) ?? 0;
  const from = padded.length - count;
  if (count === 0 || count > blockBytes || from < 0 || padded.subarray(from).some((byte) => byte !== count))
    throw new Error('invalid padding on input');
  return padded.subarray(0, from);
}

function seal(secret: Uint8Array, value: Uint8Array, key: string): Buffer {
  const nonce = randomBytes(gcmNonceBytes);
  const cipher = createCipheriv(`aes-${(secret.length * 8) as 256}-gcm`, secret, nonce);
  cipher.setAAD(Buffer.from(key));
  return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

function open(secret: Uint8Array, stored: Uint8Array, key: string): Buffer {
  if (stored.length < gcmNonceBytes + gcmTagBytes) throw new Error(tooShort);
  const tag = stored.length - gcmTagBytes;
  const decipher = createDecipheriv(`aes-${(secret.length * 8) as 256}-gcm`, secret, stored.subarray(0, gcmNonceBytes), {
    authTagLength: gcmTagBytes,
  });
  decipher.setAAD(Buffer.from(key));
  decipher.setAuthTag(stored.subarray(tag));
  try {
    return Buffer.concat([decipher.update(stored.subarray(gcmNonceBytes, tag)), decipher.final()]);
  } catch (error) {
    throw new Error('cipher: message authentication failed', { cause: error });
  }
}

export function aesGcm(secret: Uint8Array): Transformer {
  const mark = markOf(secret);
  return {
    toStore: (value, key) => seal(secret, value, key),
    fromStore: (stored, key) => ({ value: open(secret, stored, key), mark }),
    mark: () => mark,
  };
}

export function secretbox(secret: Uint8Array): Transformer {
  const mark = markOf(secret);
  return {
    toStore(value) {
      const nonce = randomBytes(boxNonceBytes);
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)]);
    },
    fromStore(stored) {
      if (stored.length < boxNonceBytes + boxTagBytes) throw new Error(tooShort);
      try {
        return {
          value: xsalsa20poly1305(secret, stored.subarray(0, boxNonceBytes)).decrypt(stored.subarray(boxNonceBytes)),
          mark,
        };
      } catch (error) {
        throw new Error('output array was not large enough for encryption', { cause: error });
      }
    },
    mark: () => mark,
  };
}

/** A key of its own for each value, derived from a seed: 32 random bytes choose it and stand before what AES-GCM makes with it. */
export function seededGcm(seed: Uint8Array): Transformer {
  // HKDF's expansion to the length of one digest is one HMAC (RFC 5869, 2.3).
  const keyOf = (info: Uint8Array): Buffer => createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest();
  return {
    toStore(value, key) {
      const info = randomBytes(seedInfoBytes);
      return Buffer.concat([info, seal(keyOf(info), value, key)]);
    },
    fromStore(stored, key) {
      if (stored.length < seedInfoBytes) throw new Error(tooShort);
      return { value: open(keyOf(stored.subarray(0, seedInfoBytes)), stored.subarray(seedInfoBytes), key), mark: '' };
    },
    mark: () => '',
  };
}
