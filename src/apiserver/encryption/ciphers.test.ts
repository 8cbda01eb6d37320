import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aesCbc, aesGcm, secretbox, seededGcm } from './ciphers.ts';
import { decodeEncryptedObject, encodeEncryptedObject } from './kms/encrypted-object.ts';
import { byPrefix, identity, type Plain, type Transformer } from './transformer.ts';

const key = '/registry/secrets/default/a';
const open = (transformer: Transformer, stored: Uint8Array, at = key): string =>
  Buffer.from((transformer.fromStore(stored, at) as Plain).value).toString();
const seal = (transformer: Transformer, text: string): Uint8Array => transformer.toStore(Buffer.from(text), key) as Uint8Array;

describe.each([
  ['aescbc', aesCbc, [16, 24, 32]],
  ['aesgcm', aesGcm, [16, 24, 32]],
  ['secretbox', secretbox, [32]],
  ['a seed of a KMS plugin', seededGcm, [32]],
] as const)('%s', (name, make, lengths) => {
  it('gives back every value, with keys of each length', () => {
    for (const length of lengths) {
      const transformer = make(randomBytes(length));
      fc.assert(
        fc.property(fc.string(), (text) => open(transformer, seal(transformer, text)) === text),
        { numRuns: 50 },
      );
    }
  });

  it('never writes one value in the same way twice', () => {
    const transformer = make(randomBytes(32));
    expect(seal(transformer, 'x')).not.toEqual(seal(transformer, 'x'));
  });

  it('refuses another key, and what was cut short', () => {
    const stored = seal(make(randomBytes(32)), 'some words that are longer than one block');
    for (const bytes of [stored, stored.subarray(0, 20), stored.subarray(0, stored.length - 1), new Uint8Array()])
      expect(() => {
        if (open(make(randomBytes(32)), bytes).startsWith('some words')) return;
        throw new Error('not what was written');
      }).toThrow();
  });

  it.skipIf(name === 'aescbc')('refuses what was changed', () => {
    const transformer = make(randomBytes(32));
    const stored = seal(transformer, 'abc');
    for (const at of stored.keys()) {
      const changed = Buffer.from(stored);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => open(transformer, changed)).toThrow();
    }
  });
});

it('aesgcm values stay at their place', () => {
  const transformer = aesGcm(randomBytes(32));
  expect(() => open(transformer, seal(transformer, 'x'), `${key}2`)).toThrow('message authentication failed');
});

it('keys of one name are told apart by what they are', () => {
  const list = (secret: Buffer) => [{ prefix: 'k:', transformer: aesGcm(secret) }];
  const marks = [randomBytes(32), randomBytes(32)].map((secret) => byPrefix(list(secret), '', { now: () => 0 }).mark());
  expect(marks[0]).not.toBe(marks[1]);
});

it('a key that fails does not keep a later one from being tried', () => {
  const [old, next] = [aesGcm(randomBytes(32)), aesGcm(randomBytes(32))];
  const prefix = 'k8s:enc:aesgcm:v1:k:';
  const written = byPrefix([{ prefix, transformer: old }], '', { now: () => 0 });
  const both = [
    { prefix: '', transformer: identity },
    { prefix, transformer: next },
    { prefix, transformer: old },
  ];
  const rotated = byPrefix(both, 'no matching prefix found', { now: () => 0 });
  const stored = seal(written, 'x');
  expect(open(rotated, stored)).toBe('x');
  expect((rotated.fromStore(stored, key) as Plain).mark).not.toBe(rotated.mark());
  expect(() => open(rotated, Buffer.from('k8s:enc:other:'))).toThrow('no matching prefix found');
});

it('what a KMS plugin’s seed encrypted is read as upstream writes it', () => {
  const object = {
    data: randomBytes(40),
    keyId: '1',
    encryptedSource: randomBytes(48),
    annotations: { 'a.example.com': Buffer.from('x') },
    sourceType: 1,
  };
  expect(decodeEncryptedObject(encodeEncryptedObject(object))).toMatchObject({ keyId: '1', sourceType: 1 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeEncryptedObject(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
});
