import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, everything, fromLabelSelector, fromSet, labelsText, nothing, parse, requirement, selectorOf } from './index.ts';

describe('parse', () => {
  it.each([
    ['', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['y in (b, a) , x', 'x,y in (a,b)'],
    ['!x,y notin (a)', '!x,y notin (a)'],
    ['x==a', 'x==a'],
    ['x!=', 'x!='],
    ['x>1,y<2', 'x>1,y<2'],
    ['x in ()', 'x in ()'],
    ['x in (,a)', 'x in (,a)'],
    ['in in (in)', 'in in (in)'],
  ])('%s', (text, canonical) => {
    expect(parse(text).toString()).toBe(canonical);
    expect(parse(canonical).toString()).toBe(canonical);
  });

  it.each([
    ['x in', "unable to parse requirement: found '' expected: '('"],
    ['x,', "found '', expected: identifier after ','"],
    ['x y', "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['x=a b', "found 'b', expected: ',' or 'end of string'"],
    ['x in (a b)', "unable to parse requirement: found 'b', expected: ',' or ')'"],
    [
      'x>a',
      "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('refuses %s', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ message, status: expect.objectContaining({ code: 400 }) }));
  });
});

describe('matches', () => {
  it.each([
    ['x=a', { x: 'a' }, true],
    ['x=a', { x: 'b' }, false],
    ['x=', {}, false],
    ['x!=a', {}, true],
    ['x in (a,b)', { x: 'b' }, true],
    ['x notin (a,b)', { x: 'c' }, true],
    ['x notin (a,b)', { x: 'a' }, false],
    ['x', { x: '' }, true],
    ['!x', { x: '' }, false],
    ['constructor', {}, false],
    ['x>9', { x: '10' }, true],
    ['x<9', { x: 'ten' }, false],
    ['x=a,y', { x: 'a' }, false],
  ])('%s on %j', (text, labels, matched) => {
    expect(parse(text).matches(labels as Record<string, string>)).toBe(matched);
  });
});

it('reads the API form', () => {
  expect(fromLabelSelector(undefined)).toBe(nothing);
  expect(fromLabelSelector({})).toBe(everything);
  const selector = fromLabelSelector({
    matchLabels: { b: '1' },
    matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }],
  });
  expect(selector.toString()).toBe('a notin (x),b=1');
  expect(() => fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Like' }] })).toThrow(
    '"Like" is not a valid label selector operator',
  );
  expect(() => fromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow("values set can't be empty");
});

it('tells an index what it may ask for', () => {
  expect(parse('x=a,y in (b),z in (c,d)').exactMatch('x')).toBe('a');
  expect(parse('x=a,y in (b),z in (c,d)').exactMatch('y')).toBe('b');
  expect(parse('x=a,y in (b),z in (c,d)').exactMatch('z')).toBeUndefined();
  expect(add(fromSet({ a: '1' }), requirement('b', 'exists', [])).toString()).toBe('a=1,b');
  expect(add(nothing, requirement('b', 'exists', []))).toBe(nothing);
  expect(labelsText({ b: '2', a: '1' })).toBe('a=1,b=2');
});

it('matches the set it was made from', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  fc.assert(
    fc.property(fc.dictionary(name, name, { maxKeys: 5 }), (labels) => {
      expect(fromSet(labels).matches(labels)).toBe(true);
      expect(parse(fromSet(labels).toString()).matches(labels)).toBe(true);
    }),
  );
});

it('judges by all requirements together as by each', () => {
  const key = fc.constantFrom(...'abcdefghijklmnop');
  const value = fc.constantFrom('1', '2', '3', 'x', '');
  const one = fc.oneof(
    fc.record({
      key,
      operator: fc.constantFrom('in' as const, 'notin' as const),
      values: fc.uniqueArray(value, { minLength: 1 }),
    }),
    fc.record({ key, operator: fc.constantFrom('=' as const, '!=' as const), values: fc.tuple(value) }),
    fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
    fc.record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.tuple(fc.constantFrom('1', '2')) }),
  );
  const labels = fc.dictionary(key, value);
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 12 }), labels, (terms, given) => {
      const requirements = terms.map((term) => requirement(term.key, term.operator, term.values));
      const each = requirements.every((term) => selectorOf([term]).matches(given));
      expect(selectorOf(requirements).matches(given)).toBe(each);
    }),
  );
});
