import { expect, it } from 'vitest';
import { deepEqual, goPrint, goSyntax, goTypeName, quote } from './index.ts';

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
