import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64, isCanonicalBase64 } from './base64.ts';

test('bytes survive, and what is written is canonical', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(isCanonicalBase64(text)).toBe(true);
      expect(decodeBase64(text)).toEqual(bytes);
    }),
  );
});

test.each([
  ['YQ=', 3],
  ['YQ', 0],
  ['Y*Q=', 1],
  ['YQ==YQ==', 4],
  ['=', 0],
  ['YWJj*', 4],
])('%s is corrupt at %d', (text, corruptAt) => {
  expect(isCanonicalBase64(text)).toBe(false);
  expect(decodeBase64(text)).toEqual({ corruptAt });
});

test('line breaks and stray bits are read, as Go does, but are not canonical', () => {
  expect(decodeBase64('Y\nQ=\r\n=')).toEqual(Uint8Array.of(97));
  expect(decodeBase64('YR==')).toEqual(Uint8Array.of(97));
  expect(isCanonicalBase64('YR==')).toBe(false);
});

test('long texts are checked whole', () => {
  const long = encodeBase64(new Uint8Array(100_000));
  expect(isCanonicalBase64(long)).toBe(true);
  expect(isCanonicalBase64(`${long.slice(0, 65535)}=${long.slice(65536)}`)).toBe(false);
});
