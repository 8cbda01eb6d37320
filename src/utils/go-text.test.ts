import { expect, it } from 'vitest';
import { deepEqual, goPrint, goSyntax, goTypeName, parseGoInt, quote } from './index.ts';

it.each([
  ['plain', '"plain"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\n\t\x07\x00\x7f', '"\\n\\t\\a\\x00\\x7f"'],
  ['é漢😀', '"é漢😀"'],
  ['\u200b\u{e0001}', '"\\u200b\\U000e0001"'],
])('quotes %j', (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});

it('prints values as Go does', () => {
  expect(goPrint({ b: [1, 'x', null], a: { c: true } })).toBe('map[a:map[c:true] b:[1 x <nil>]]');
  const floats = [1e5 + 0.5, 1234567.5, 1e20, 0.0001, 0.00001, 1.5e-7, 2 ** 62];
  expect(floats.map(goPrint)).toEqual([
    '100000.5',
    '1.2345675e+06',
    '1e+20',
    '0.0001',
    '1e-05',
    '1.5e-07',
    '4611686018427387904',
  ]);
  expect(goSyntax({ a: [1, 'x'] })).toBe('map[string]interface {}{"a":[]interface {}{1, "x"}}');
  expect([goTypeName(1), goTypeName(1.5), goTypeName('x'), goTypeName([]), goTypeName({})]).toEqual([
    'int64',
    'float64',
    'string',
    '[]interface {}',
    'map[string]interface {}',
  ]);
});

it.each([
  [{ a: 1, b: [1] }, { b: [1], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: undefined }, { b: undefined }, false],
  [[1, 2], [2, 1], false],
  [{}, [], false],
  [null, {}, false],
])('%j equals %j: %s', (a, b, equal) => {
  expect(deepEqual(a, b)).toBe(equal);
});

it.each<[string, bigint | undefined]>([
  ['3546343826724305832', 3546343826724305832n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['+007', 7n],
  [`${'0'.repeat(100)}1`, 1n],
  ['9223372036854775808', undefined],
  ['9'.repeat(100_000), undefined],
  ['', undefined],
  ['-', undefined],
  ['1e3', undefined],
  ['1_000', undefined],
  [' 1', undefined],
  ['1\n', undefined],
])('reads the int64 of %j as Go does', (text, value) => {
  expect(parseGoInt(text, 64)).toBe(value);
});
