// Addresses and prefixes in specs, reported with upstream's strict rules (KEP-4858: StrictIPCIDRValidation is on in v1.36).
import type { Path } from '#apimachinery/field';
import * as ip from '#apimachinery/validation';
import type { Report } from './report.ts';

/** A field that took lenient spellings once: values among `old` stay valid. */
export const validateLegacyIP = (report: Report, path: Path, value: string, old?: readonly string[]): void =>
  report.add(ip.validateLegacyIP(path, value, true, old));

export const validateLegacyCIDR = (report: Report, path: Path, value: string, old?: readonly string[]): void =>
  report.add(ip.validateLegacyCIDR(path, value, true, old));

/** A new field: the canonical spelling only. */
export const validateIP = (report: Report, path: Path, value: string): void => report.add(ip.validateIP(path, value));

export const validateCIDR = (report: Report, path: Path, value: string): void => report.add(ip.validateCIDR(path, value));

/** The address family of a text, 4 or 6; undefined when it is no address. */
export function familyOf(value: string): 4 | 6 | undefined {
  const address = ip.parseIP(value);
  return address && ip.ipFamily(address);
}

/** The family of a CIDR prefix; undefined when the text is not a valid prefix. */
export function prefixFamilyOf(value: string): 4 | 6 | undefined {
  const prefix = ip.parseCIDR(value);
  return prefix && ip.ipFamily(prefix.address);
}

/** Whether both families are among them. */
export const isDualStack = (families: readonly (4 | 6 | undefined)[]): boolean => families.includes(4) && families.includes(6);
