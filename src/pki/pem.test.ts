import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodePem, parsePem } from './pem.ts';

/** As a pattern says it, for short texts. */
const blockPattern = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/g;

test('the blocks of any text are those that a pattern finds', () => {
  const parts = [
    '-----BEGIN A-----\n',
    '-----BEGIN B-----\r\n',
    '-----END A-----',
    '-----END B-----',
    '-----',
    'QUJD\n',
    '\n',
    'x',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 14 }), (words) => {
      const text = words.join('');
      const expected = [...text.matchAll(blockPattern)].map(([, label]) => label);
      expect(parsePem(text).map(({ label }) => label)).toEqual(expected);
    }),
  );
});

test('a beginning without its end hides nothing that follows, and many of them cost their length', () => {
  const text = `${'-----BEGIN A-----\n'.repeat(40_000)}${encodePem('B', Buffer.from('b'))}`;
  expect(parsePem(text)).toEqual([{ label: 'B', bytes: Buffer.from('b') }]);
});
