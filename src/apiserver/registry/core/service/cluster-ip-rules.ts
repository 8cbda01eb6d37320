// What must hold between clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy before addresses are allocated
// (upstream ValidateServiceClusterIPsRelatedFields), and the completion of the family fields.
import type { Service, ServiceSpec } from '#api/core/v1';
import { invalidObject } from '#apimachinery/errors';
import { duplicate, type FieldError, invalid, notSupported, required, root } from '#apimachinery/field';
import { familyOf, type IpFamily, otherFamily } from './addresses.ts';

const specPath = root('spec');
const ipsPath = specPath.child('clusterIPs');
const familiesPath = specPath.child('ipFamilies');
const policyPath = specPath.child('ipFamilyPolicy');

const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export const refuse = (service: Service, errors: readonly FieldError[]) =>
  invalidObject({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors);

function agreementErrors({ clusterIP, clusterIPs = [] }: ServiceSpec): FieldError[] {
  if (!clusterIP) {
    return clusterIPs.length > 0 ? [invalid(ipsPath, clusterIPs, 'must be empty when `clusterIP` is not specified')] : [];
  }
  if (clusterIPs.length === 0) return [required(ipsPath)];
  return clusterIPs[0] === clusterIP ? [] : [invalid(ipsPath, clusterIPs, 'first value must match `clusterIP`')];
}

function familyErrors({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const errors = ipFamilies.flatMap((family, i): FieldError[] => [
    ...(family === 'IPv4' || family === 'IPv6' ? [] : [notSupported(familiesPath.index(i), family, ['IPv4', 'IPv6'])]),
    ...(ipFamilies.indexOf(family) < i ? [duplicate(familiesPath.index(i), family)] : []),
  ]);
  const known = ipFamilyPolicy === undefined || policies.includes(ipFamilyPolicy);
  return known ? errors : [...errors, notSupported(policyPath, ipFamilyPolicy, policies)];
}

function addressErrors(ips: readonly string[], existing: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === 'None') {
      if (ips.length > 1) errors.push(invalid(ipsPath, ips, "'None' must be the first and only value"));
    } else if (familyOf(ip) === undefined && !existing.includes(ip)) {
      errors.push(invalid(ipsPath.index(i), ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
    }
  }
  return errors;
}

function matchErrors(ips: readonly string[], families: readonly string[]): FieldError[] {
  return ips.flatMap((ip, i) => {
    const family = families[i];
    if (ip === 'None' || (family !== 'IPv4' && family !== 'IPv6') || familyOf(ip) === family) return [];
    return [invalid(ipsPath.index(i), ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)];
  });
}

/** Failures of the four fields among themselves. */
function relatedErrors(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const ips = spec.clusterIPs ?? [];
  const errors = [...agreementErrors(spec), ...familyErrors(spec)];
  const bad = addressErrors(ips, old?.clusterIPs ?? []);
  errors.push(...bad);
  if (ips.length > 2) errors.push(invalid(ipsPath, ips, 'may only hold up to 2 values'));
  if (bad.length > 0) return errors;
  if (ips.length > 1 && (ips.length > 2 || familyOf(ips[0] as string) === familyOf(ips[1] as string))) {
    errors.push(invalid(ipsPath, ips, 'may specify no more than one IP for each IP family'));
  }
  return [...errors, ...matchErrors(ips, spec.ipFamilies ?? [])];
}

export const same = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

const fewer = (now: readonly string[] = [], before: readonly string[] = []): boolean =>
  now.length > 0 && now.length < before.length;

/** A dual-stack preference that was settled before stays as it is. */
export function isSettled(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  return (
    old !== undefined &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (old.ipFamilyPolicy === undefined || old.ipFamilyPolicy === 'PreferDualStack') &&
    old.type === spec.type &&
    ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type ?? '') &&
    same(old.clusterIPs, spec.clusterIPs) &&
    same(old.ipFamilies, spec.ipFamilies)
  );
}

/** An update to single stack lets the second entries go; others may not lose one. */
function shrinkErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (same(old.clusterIPs, spec.clusterIPs) && (spec.clusterIPs?.length ?? 0) > 1)
      spec.clusterIPs = spec.clusterIPs?.slice(0, 1);
    if (same(old.ipFamilies, spec.ipFamilies) && (spec.ipFamilies?.length ?? 0) > 1)
      spec.ipFamilies = spec.ipFamilies?.slice(0, 1);
    return [];
  }
  const why = (what: string) =>
    invalid(policyPath, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(fewer(spec.clusterIPs, old.clusterIPs) ? [why('cluster IP')] : []),
    ...(fewer(spec.ipFamilies, old.ipFamilies) ? [why('IP family')] : []),
  ];
}

function singleStackErrors({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const why = (what: string) =>
    invalid(policyPath, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`);
  return [...(clusterIPs.length === 2 ? [why('cluster IPs')] : []), ...(ipFamilies.length === 2 ? [why('IP families')] : [])];
}

/** Families of addresses that were given without. */
function inferFamilies(spec: ServiceSpec, configured: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === 'None') break;
    const family = familyOf(ip);
    if (!family || i < (spec.ipFamilies?.length ?? 0)) continue;
    if (configured.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else errors.push(invalid(ipsPath.index(i), spec.clusterIPs, `${family} is not configured on this cluster`));
  }
  return errors;
}

const isHeadlessWithoutSelector = ({ clusterIP, selector }: ServiceSpec): boolean =>
  clusterIP === 'None' && Object.keys(selector ?? {}).length === 0;

function addSecondFamily(spec: ServiceSpec): void {
  const [only, ...more] = (spec.ipFamilies ?? []) as IpFamily[];
  if (only && more.length === 0 && spec.ipFamilyPolicy !== 'SingleStack') spec.ipFamilies = [only, otherFamily(only)];
}

/** Fills ipFamilyPolicy and ipFamilies. Throws 422 for what cannot be. */
export function completeFamilies(service: Service, old: ServiceSpec | undefined, configured: readonly IpFamily[]): void {
  const { spec } = service;
  if (!spec || spec.type === 'ExternalName' || isSettled(spec, old)) return;
  const [primary = 'IPv4'] = configured;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isHeadlessWithoutSelector(spec) ? 'RequireDualStack' : 'SingleStack');
  const related = relatedErrors(spec, old);
  if (related.length > 0) throw refuse(service, related);
  const errors = [...(old ? shrinkErrors(spec, old) : []), ...singleStackErrors(spec), ...inferFamilies(spec, configured)];
  if (errors.length > 0) throw refuse(service, errors);
  if (isHeadlessWithoutSelector(spec)) {
    if (!spec.ipFamilies?.length) spec.ipFamilies = [primary];
    addSecondFamily(spec);
    return;
  }
  const unavailable: FieldError[] = [
    ...(spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2
      ? [invalid(policyPath, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...(spec.ipFamilies ?? []).flatMap((family, i) =>
      configured.some((known) => known === family)
        ? []
        : [invalid(familiesPath.index(i), family, 'not configured on this cluster')],
    ),
  ];
  if (unavailable.length > 0) throw refuse(service, unavailable);
  if (!spec.ipFamilies?.length) spec.ipFamilies = [primary];
  if (configured.length === 2) addSecondFamily(spec);
}
