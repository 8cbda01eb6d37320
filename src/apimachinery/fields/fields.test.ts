import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeValue, everything, oneTermEqual, parse, unescapeValue } from './index.ts';

describe('parse', () => {
  it.each([
    ['', '', {}, true],
    ['a=1', 'a=1', { a: '1' }, true],
    ['a==1', 'a=1', { a: '2' }, false],
    ['b!=2,a=1', 'a=1,b!=2', { a: '1' }, true],
    ['a=', 'a=', {}, true],
    ['a=x\\,y', 'a=x\\,y', { a: 'x,y' }, true],
  ])('%s', (text, canonical, fields, matched) => {
    expect(parse(text).toString()).toBe(canonical);
    expect(parse(text).matches(fields as Record<string, string>)).toBe(matched);
  });

  it.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ])('refuses %s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});

it.each(['=', '!=', '==,', ','])('%s asks for nothing', (text) => {
  expect(parse(text).empty).toBe(true);
});

it('renames and drops terms', () => {
  const selector = parse('a=1,b!=2');
  expect(selector.transform((term) => ({ ...term, field: `x.${term.field}` })).toString()).toBe('x.a=1,x.b!=2');
  expect(selector.transform(() => undefined)).toBe(everything);
  expect(selector.exactMatch('a')).toBe('1');
  expect(selector.exactMatch('b')).toBeUndefined();
});

it('takes any value through text', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      expect(unescapeValue(escapeValue(value))).toBe(value);
      expect(parse(oneTermEqual('f', value).toString()).exactMatch('f')).toBe(value);
    }),
  );
});
