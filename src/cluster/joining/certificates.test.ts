import { describe, expect, it } from 'vitest';
import { decrypt, encrypt, newCertificateKey, parseCertificateKey } from './certificates.ts';

describe('certificates on their way to another control plane', () => {
  const key = parseCertificateKey(newCertificateKey());
  const content = Buffer.from('-----BEGIN EC PRIVATE KEY-----');

  it('are read again with the key, and look different each time', () => {
    const hidden = encrypt(content, key);
    expect(decrypt(hidden, key)).toEqual(content);
    expect(hidden.equals(encrypt(content, key))).toBe(false);
    expect(hidden.includes(content)).toBe(false);
  });
  it.each<[string, (hidden: Buffer) => [Buffer, Buffer]]>([
    ['another key', (hidden) => [hidden, parseCertificateKey(newCertificateKey())]],
    [
      'a change',
      (hidden) => [Buffer.concat([hidden.subarray(0, 20), Buffer.from([(hidden[20] ?? 0) ^ 1]), hidden.subarray(21)]), key],
    ],
    ['a cut', (hidden) => [hidden.subarray(0, -1), key]],
    ['nothing', () => [Buffer.alloc(0), key]],
  ])('are not read after %s', (_what, made) => {
    const [hidden, withKey] = made(encrypt(content, key));
    expect(() => decrypt(hidden, withKey)).toThrow();
  });
  it.each([
    ['xyz', 'not hexadecimal'],
    ['', 'not hexadecimal'],
    ['abcd', 'it has 2 bytes, and must have 32'],
  ])('%j is no key', (text, why) => {
    expect(() => parseCertificateKey(text)).toThrow(why);
  });
});
