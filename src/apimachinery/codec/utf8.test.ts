import { expect, test } from 'vitest';
import { utf8Problem } from './utf8.ts';

test.each([
  [[0x61, 0xff], 'invalid leading UTF-8 octet'],
  [[0x80], 'invalid leading UTF-8 octet'],
  [[0xe2, 0x82], 'incomplete UTF-8 octet sequence'],
  [[0xc3, 0x28], 'invalid trailing UTF-8 octet'],
  [[0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
  [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
  [[0xf4, 0x90, 0x80, 0x80], 'invalid Unicode character'],
])('bytes %j: %s', (bytes, problem) => {
  expect(utf8Problem(Uint8Array.from(bytes))).toBe(problem);
});

test('texts of all widths have no problem', () => {
  expect(utf8Problem(new TextEncoder().encode('aé€😀\ufffd'))).toBeUndefined();
});
