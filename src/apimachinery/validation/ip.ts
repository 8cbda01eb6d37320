// Fields that hold addresses and prefixes (k8s.io/apimachinery/pkg/util/validation, ip.go; KEP-4858).
import { quote } from '#utils';
import { type FieldError, invalid, type Path } from '../field/index.ts';
import { cidrText, type IPAddress, type IPPrefix, ipFamily, ipText, parseCIDR, parseIP } from './ip-address.ts';

function strictIPProblems(path: Path, value: string, ip: IPAddress): FieldError[] {
  if (ip.leadingZeros) return [invalid(path, value, 'must not have leading 0s')];
  return ip.mapped ? [invalid(path, value, 'must not be an IPv4-mapped IPv6 address')] : [];
}

const notAnIP = (path: Path, value: string): FieldError =>
  invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');

/** A field that once took any spelling. `strict`: StrictIPCIDRValidation; `old`: values it may keep. */
export function validateLegacyIP(path: Path, value: string, strict: boolean, old: readonly string[] = []): FieldError[] {
  const ip = parseIP(value);
  const problems = ip === undefined ? [notAnIP(path, value)] : strict ? strictIPProblems(path, value, ip) : [];
  return problems.length > 0 && old.includes(value) ? [] : problems;
}

/** Requires an IP address in its canonical form. */
export function validateIP(path: Path, value: string): FieldError[] {
  const ip = parseIP(value);
  if (ip === undefined) return [notAnIP(path, value)];
  const problems = strictIPProblems(path, value, ip);
  if (problems.length > 0 || ipText(ip) === value) return problems;
  return [invalid(path, value, `must be in canonical form (${quote(ipText(ip))})`)];
}

function strictCIDRProblems(path: Path, value: string, prefix: IPPrefix): FieldError[] {
  if (prefix.leadingZeros) return [invalid(path, value, 'must not have leading 0s in IP or prefix length')];
  if (prefix.address.mapped) return [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')];
  if (prefix.address.value !== prefix.network.value)
    return [invalid(path, value, 'must not have bits set beyond the prefix length')];
  return [];
}

const notACIDR = (path: Path, value: string): FieldError =>
  invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');

/** A prefix in a field that once took any spelling. */
export function validateLegacyCIDR(path: Path, value: string, strict: boolean, old: readonly string[] = []): FieldError[] {
  const prefix = parseCIDR(value);
  const problems = prefix === undefined ? [notACIDR(path, value)] : strict ? strictCIDRProblems(path, value, prefix) : [];
  return problems.length > 0 && old.includes(value) ? [] : problems;
}

/** Requires a range `address/length` in its canonical form. */
export function validateCIDR(path: Path, value: string): FieldError[] {
  const prefix = parseCIDR(value);
  if (prefix === undefined) return [notACIDR(path, value)];
  const problems = strictCIDRProblems(path, value, prefix);
  if (problems.length > 0 || cidrText(prefix) === value) return problems;
  return [invalid(path, value, `must be in canonical form (${quote(cidrText(prefix))})`)];
}

/** An address with its prefix length, host bits kept, in canonical form. */
export function validateInterfaceAddress(path: Path, value: string): FieldError[] {
  const prefix = parseCIDR(value);
  if (prefix === undefined)
    return [invalid(path, value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  const length = prefix.address.mapped && prefix.length > 32 ? prefix.length - 96 : prefix.length;
  const canonical = `${ipText(prefix.address)}/${length}`;
  return canonical === value ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)];
}

/** The warnings for an address that is valid and unusually written. */
export function ipWarnings(path: Path, value: string): string[] {
  const ip = parseIP(value);
  if (ip === undefined) return [];
  const canonical = ipText(ip);
  if (ip.leadingZeros || ip.mapped)
    return [`${path}: non-standard IP address ${quote(value)} is invalid: use ${quote(canonical)}`];
  if (ip.family === 4 || canonical === value) return [];
  return [`${path}: IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`];
}

/** Warnings for a valid prefix in an unusual spelling, or with host bits. */
export function cidrWarnings(path: Path, value: string): string[] {
  const prefix = parseCIDR(value);
  if (prefix === undefined) return [];
  const canonical = cidrText(prefix);
  const warnings: string[] = [];
  if (prefix.address.value !== prefix.network.value) {
    const single = `${ipText(prefix.address)}/${prefix.address.family === 4 ? 32 : 128}`;
    const choice = `should be ${quote(canonical)} or ${quote(single)}?`;
    warnings.push(`${path}: CIDR value ${quote(value)} is ambiguous in this context (${choice})`);
  }
  if (prefix.leadingZeros || prefix.address.mapped) {
    warnings.push(`${path}: non-standard CIDR value ${quote(value)} is invalid: use ${quote(canonical)}`);
  }
  if (warnings.length === 0 && ipFamily(prefix.address) === 6 && canonical !== value) {
    warnings.push(`${path}: IPv6 CIDR value ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`);
  }
  return warnings;
}
