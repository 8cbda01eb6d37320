// Rules of a service's addresses and families, and of how they may change (pkg/apis/core/validation, ValidateServiceClusterIPsRelatedFields
// and validateUpgradeDowngrade*; KEP-563).
import type { ServiceSpec } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { repeats } from '#utils';
import { familyOf, isDualStack, validateLegacyIP } from '../../common/ip.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { isHeadless } from './rules.ts';

const ipsPath = root('spec', 'clusterIPs');
const familiesPath = root('spec', 'ipFamilies');
const policyPath = root('spec', 'ipFamilyPolicy');
const unchangeable = 'may not change once set';

export function validateClusterIPs(report: Report, spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (spec.type === 'ExternalName') return;
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = spec;
  if (clusterIP !== '') {
    if (clusterIPs.length === 0) report.required(ipsPath);
    else if (clusterIPs[0] !== clusterIP) report.invalid(ipsPath, clusterIPs, 'first value must match `clusterIP`');
  } else if (clusterIPs.length > 0) report.invalid(ipsPath, clusterIPs, 'must be empty when `clusterIP` is not specified');
  const isRepeat = repeats();
  ipFamilies.forEach((family, index) => {
    report.known(familiesPath.index(index), family, ['IPv4', 'IPv6']);
    if (isRepeat(family)) report.duplicate(familiesPath.index(index), family);
  });
  report.knownIfSet(policyPath, spec.ipFamilyPolicy, ['PreferDualStack', 'RequireDualStack', 'SingleStack']);
  if (!validateAddresses(report, clusterIPs, old?.clusterIPs)) return;
  if (clusterIPs.length > 1 && !isDualStack(clusterIPs.map(familyOf))) {
    report.invalid(ipsPath, clusterIPs, 'may specify no more than one IP for each IP family');
  }
  if (isHeadless(spec)) return;
  clusterIPs.slice(0, ipFamilies.length).forEach((ip, index) => {
    const family = ipFamilies[index];
    const expected = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : undefined;
    if (expected !== undefined && (familyOf(ip) === 6 ? 6 : 4) !== expected) {
      report.invalid(ipsPath.index(index), ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
    }
  });
}

/** False: some value is no address, so that more questions make no sense. */
function validateAddresses(report: Report, clusterIPs: string[], old: string[] | undefined): boolean {
  let valid = true;
  clusterIPs.forEach((ip, index) => {
    const before = report.count;
    if (index === 0 && ip === 'None') {
      if (clusterIPs.length > 1) report.invalid(ipsPath, clusterIPs, "'None' must be the first and only value");
    } else validateLegacyIP(report, ipsPath.index(index), ip, old);
    if (report.count > before) valid = false;
  });
  if (clusterIPs.length > 2) report.invalid(ipsPath, clusterIPs, 'may only hold up to 2 values');
  return valid;
}

/** The first address and family stay; a second one may come and go. */
export function validateClusterIPChange(report: Report, spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  const bothHeadless = isHeadless(spec) && isHeadless(old);
  if (!bothHeadless) validateAddressChange(report, spec, old);
  if (!isHeadless(spec) && !isHeadless(old)) validateFamilyChange(report, spec, old);
}

function validateAddressChange(report: Report, spec: ServiceSpec, old: ServiceSpec): void {
  const now = spec.clusterIPs ?? [];
  const before = old.clusterIPs ?? [];
  if (before.length === now.length) {
    before.forEach((ip, index) => {
      if (ip !== now[index]) report.invalid(ipsPath.index(index), now, unchangeable);
    });
    return;
  }
  if (now.length === 0) report.invalid(ipsPath.index(0), now, 'primary clusterIP can not be unset');
  else if (before.length > 0 && now[0] !== before[0]) report.invalid(ipsPath.index(0), now, unchangeable);
  if (before.length > now.length && now.length === 1) validateSingleStack(report, spec, 'secondary clusterIP');
}

function validateFamilyChange(report: Report, spec: ServiceSpec, old: ServiceSpec): void {
  const now = spec.ipFamilies ?? [];
  const before = old.ipFamilies ?? [];
  const at = familiesPath.index(0);
  if (before.length === now.length) {
    before.forEach((family, index) => {
      if (family !== now[index]) report.invalid(at, now, unchangeable);
    });
    return;
  }
  if (before.length > now.length && isEmpty(spec.clusterIPs)) report.invalid(at, now, 'primary ipFamily can not be unset');
  if (before.length > 0 && now.length > 0 && now[0] !== before[0]) report.invalid(at, spec.clusterIPs ?? null, unchangeable);
  if (before.length > now.length && now.length === 1) validateSingleStack(report, spec, 'secondary ipFamily');
}

function validateSingleStack(report: Report, { ipFamilyPolicy }: ServiceSpec, what: string): void {
  if (ipFamilyPolicy === 'SingleStack') return;
  report.invalid(policyPath, ipFamilyPolicy ?? null, `must be set to 'SingleStack' when releasing the ${what}`);
}
