import { describe, expect, it } from 'vitest';
import { canonicalRange, familyOf, isWithin, parseRange } from './ranges.ts';

describe('a range of addresses', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.1/32', '192.0.2.1/32'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['2001:DB8::1/32', '2001:db8::/32'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001/128', '2001:db8::1/128'],
    ['10.001.2.3/8', '10.0.0.0/8'],
    ['::/0', '::/0'],
  ])('%s is %s', (text, expected) => expect(canonicalRange(text)).toBe(expected));
  it.each([
    '',
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/08/1',
    '2001:db8::/129',
    'fe80::1%eth0/64',
    '10.0.0.0/-1',
    'x/8',
    ' 10.0.0.0/8',
  ])('%j is none', (text) => expect(canonicalRange(text)).toBeUndefined());
  it('lies within a wider one of its family', () => {
    const range = (text: string) => parseRange(text) ?? expect.fail(text);
    expect(isWithin(range('10.1.0.0/16'), range('10.0.0.0/8'))).toBe(true);
    expect(isWithin(range('10.0.0.0/8'), range('10.1.0.0/16'))).toBe(false);
    expect(isWithin(range('10.0.0.0/8'), range('::/0'))).toBe(false);
    expect([familyOf('10.0.0.1'), familyOf('::1'), familyOf('x')]).toEqual(['IPv4', 'IPv6', undefined]);
  });
});
