import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize, compareQuantities, milliQuantity, parseQuantity, QuantityError, quantityOf } from './index.ts';

describe('canonicalize', () => {
  it.each([
    ['0', '0'],
    ['0Gi', '0'],
    ['1', '1'],
    ['+5', '+5'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['1025Ki', '1025Ki'],
    ['500Mi', '500Mi'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.1', '100m'],
    ['1.5', '1500m'],
    ['1.500', '1.500'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1e3', '1e3'],
    ['1e4', '10e3'],
    ['12e6', '12e6'],
    ['1E', '1E'],
    ['0.0000000001', '1n'],
    ['-0.5', '-500m'],
    ['0.1Ki', '102400m'],
    ['100000000000000000000', '100E'],
    ['9223372036854775808Ki', '9223372036854775807'],
    [1.5, '1500m'],
  ])('%s', (text, canonical) => {
    expect(canonicalize(text)).toBe(canonical);
  });

  it.each(['', 'a', '1.2.3', '1 Gi', '--1', '1i', '1e', '1ki', '1KiB'])('refuses %j', (text) => {
    expect(() => canonicalize(text)).toThrow(QuantityError);
  });
});

describe('arithmetic', () => {
  it('is exact', () => {
    expect(parseQuantity('0.1').add(parseQuantity('0.2')).toString()).toBe('300m');
    expect(parseQuantity('1Gi').sub(parseQuantity('1Mi')).toString()).toBe('1023Mi');
    expect(quantityOf(0).add(parseQuantity('1Gi')).toString()).toBe('1Gi');
    expect(parseQuantity('9Ei').add(parseQuantity('1')).scaledBigInt(0)).toBe(2n ** 63n);
    expect(parseQuantity('250m').multiply(3).toString()).toBe('750m');
    expect(milliQuantity(1500).value()).toBe(2);
    expect(parseQuantity('-1500m').value()).toBe(-2);
    expect(parseQuantity('1n').roundUp(-3).toString()).toBe('1m');
    expect(parseQuantity('1500m').isExactAt(0)).toBe(false);
    expect(compareQuantities('1Gi', '1073741824')).toBe(0);
    expect(compareQuantities('999m', 1)).toBe(-1);
  });

  const amount = fc.tuple(
    fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
    fc.constantFrom('', 'm', 'u', 'k', 'M', 'Ki', 'Gi', 'e2'),
  );
  const text = amount.map(([number, suffix]) => `${number}${suffix}`);

  it('keeps the value through its text', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(compareQuantities(canonicalize(one), one)).toBe(0);
        expect(parseQuantity(one).negate().negate().compare(parseQuantity(one))).toBe(0);
      }),
    );
  });

  it('adds and takes away the same', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const sum = parseQuantity(a).add(parseQuantity(b));
        expect(sum.sub(parseQuantity(b)).equals(parseQuantity(a))).toBe(true);
        expect(parseQuantity(sum.toString()).equals(sum)).toBe(true);
      }),
    );
  });
});

it('tells quantities from other texts as the grammar of upstream does, at the cost of their length', () => {
  const upstream = /^([+-]?)(0*)([0-9]*)(\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
  const form = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const problem = (text: string): string => {
    try {
      parseQuantity(text);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const word = fc.array(fc.constantFrom('0', '1', '.', '+', '-', 'e', 'K', 'i', 'm', 'x'), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(word, (letters) => {
      const text = letters.join('');
      expect(problem(text) === form).toBe(!upstream.test(text));
    }),
  );
  for (let tries = 0; tries < 2_000; tries++) expect(problem(`${'0'.repeat(1_023)}x`)).toBe(form);
});
