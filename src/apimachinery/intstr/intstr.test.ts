import { describe, expect, it } from 'vitest';
import { intOrStringText, intValue, parseIntOrString, percentOf, scaledValue } from './index.ts';

describe('int or string', () => {
  it.each([
    [5, 10, true, 5],
    ['25%', 10, true, 3],
    ['25%', 10, false, 2],
    ['100%', 7, false, 7],
    ['0%', 7, true, 0],
  ] as const)('%s of %d', (value, total, roundUp, scaled) => {
    expect(scaledValue(value, total, roundUp)).toBe(scaled);
  });

  it('refuses what is no percentage', () => {
    expect(() => scaledValue('5', 10, true)).toThrow('invalid value for IntOrString: invalid type: string is not a percentage');
    expect(() => scaledValue('x%', 10, true)).toThrow(
      'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
    );
    expect(percentOf('http')).toBeUndefined();
  });

  it('reads and prints', () => {
    expect(parseIntOrString('80')).toBe(80);
    expect(parseIntOrString('9999999999')).toBe('9999999999');
    expect(parseIntOrString('http')).toBe('http');
    expect(intValue('80')).toBe(80);
    expect(intOrStringText(80)).toBe('80');
  });
});
