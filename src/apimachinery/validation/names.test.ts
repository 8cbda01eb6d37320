import { describe, expect, it } from 'vitest';
import { root } from '../field/index.ts';
import * as rules from './index.ts';

const long = 'a'.repeat(64);
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

describe('names', () => {
  it.each([
    [rules.isDNS1123Label, 'my-name', []],
    [rules.isDNS1123Label, 'a.b', ['must not contain dots']],
    [rules.isDNS1123Label, 'A', [labelRule]],
    [rules.isDNS1123Label, long, ['must be no more than 63 characters']],
    [rules.isDNS1123Subdomain, 'a.b-c.d', []],
    [rules.isDNS1123Subdomain, 'a..b', [subdomainRule]],
    [rules.isDNS1123Subdomain, 'a\n', [subdomainRule]],
    [rules.isPathSegmentName, '..', ["may not be '..'"]],
    [rules.isPathSegmentName, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
    [rules.isQualifiedName, 'example.com/Name_1', []],
    [rules.isQualifiedName, '/a', ['prefix part must be non-empty']],
    [rules.isQualifiedName, long, ['name part must be no more than 63 bytes']],
    [rules.isLabelValue, '', []],
    [rules.isLabelValue, long, ['must be no more than 63 bytes']],
    [rules.isPortName, 'http-2', []],
    [
      rules.isPortName,
      '-1--',
      ['must contain at least one letter (a-z)', 'must not contain consecutive hyphens', 'must not begin or end with a hyphen'],
    ],
    [rules.isRelaxedEnvVarName, 'a b/1', []],
    [
      rules.isRelaxedEnvVarName,
      'a=b',
      ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ],
    [rules.isConfigMapKey, '..a', ["must not start with '..'"]],
    [rules.isDecimalInteger, '-0', ['must be a valid decimal integer in canonical form']],
    [rules.isWildcardDNS1123Subdomain, '*.example.com', []],
    [rules.isDNS1035Label, 'abc-123', []],
    [rules.isCIdentifier, 'my_name', []],
    [rules.isPercent, '93%', []],
  ] as const)('%#: %s %j', (rule, value, problems) => {
    expect(rule(value)).toEqual(problems);
  });

  it('words a failed pattern with all its examples', () => {
    expect(rules.regexError('m', 'p', 'a', 'b')).toBe("m (e.g. 'a',  or 'b', regex used for validation is 'p')");
    expect(rules.regexError('m', 'p')).toBe("m (regex used for validation is 'p')");
    expect(rules.isPortNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
    expect(rules.byteLength('aé漢😀')).toBe(10);
  });
});

describe('addresses', () => {
  const path = root('ip');
  const details = (errors: { detail: string }[]): string[] => errors.map((error) => error.detail);
  it.each([
    ['10.0.0.1', []],
    ['2001:db8::1', []],
    ['010.0.0.1', ['must not have leading 0s']],
    ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
    ['2001:DB8:0::1', ['must be in canonical form ("2001:db8::1")']],
    ['1.2.3', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['fe80::1%eth0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ])('address %s', (text, problems) => {
    expect(details(rules.validateIP(path, text))).toEqual(problems);
  });

  it.each([
    ['10.0.0.0/8', []],
    ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['2001:db8:0:0::/64', ['must be in canonical form ("2001:db8::/64")']],
    ['10.0.0.0/33', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ])('prefix %s', (text, problems) => {
    expect(details(rules.validateCIDR(path, text))).toEqual(problems);
  });

  it('is lenient with old fields', () => {
    expect(rules.validateLegacyIP(path, '010.0.0.1', false)).toEqual([]);
    expect(rules.validateLegacyIP(path, '010.0.0.1', true, ['010.0.0.1'])).toEqual([]);
    expect(rules.ipWarnings(path, '010.0.0.1')).toEqual(['ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']);
    expect(rules.cidrWarnings(path, '10.0.0.1/8')).toEqual([
      'ip: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ]);
    expect(details(rules.validateInterfaceAddress(path, '10.0.0.1/8'))).toEqual([]);
  });
});
