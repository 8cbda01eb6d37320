// Rules of a pod's DNS settings and host names (pkg/apis/core/validation, validatePodDNSConfig, ValidateHostAliases, validatePodHostName).
import type { PodSpec } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, isDNS1123Subdomain, isDNS1123SubdomainWithUnderscore } from '#apimachinery/validation';
import { validateLegacyIP } from '../../../common/ip.ts';
import { isEmpty, type Report } from '../../../common/report.ts';

const nameserversMax = 3;
const searchesMax = 32;
const searchCharactersMax = 2048;
const hostnameOverrideMax = 64;

export function validateDNSConfig(report: Report, path: Path, { dnsConfig, dnsPolicy }: PodSpec): void {
  if (dnsPolicy === 'None') {
    if (!dnsConfig) return report.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None');
    if (isEmpty(dnsConfig.nameservers)) {
      return report.required(path.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None');
    }
  }
  if (!dnsConfig) return;
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  if (nameservers.length > nameserversMax)
    report.invalid(path.child('nameservers'), nameservers, `must not have more than ${nameserversMax} nameservers`);
  nameservers.forEach((server, index) => validateLegacyIP(report, path.child('nameservers').index(index), server));
  const at = path.child('searches');
  if (searches.length > searchesMax) report.invalid(at, searches, `must not have more than ${searchesMax} search paths`);
  if (byteLength(searches.join(' ')) > searchCharactersMax) {
    report.invalid(
      at,
      searches,
      `must not have more than ${searchCharactersMax} characters (including spaces) in the search list`,
    );
  }
  searches.forEach((search, index) => {
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    if (search !== '.') report.problems(at.index(index), domain, isDNS1123SubdomainWithUnderscore(domain));
  });
  options.forEach(({ name }, index) => {
    if (isEmpty(name)) report.required(path.child('options').index(index), 'must not be empty');
  });
}

export function validateHostAliases(report: Report, path: Path, { hostAliases }: PodSpec): void {
  hostAliases?.forEach(({ ip, hostnames }, index) => {
    const at = path.index(index);
    validateLegacyIP(report, at.child('ip'), ip ?? '');
    hostnames?.forEach((name, item) => report.problems(at.child('hostnames').index(item), name, isDNS1123Subdomain(name)));
  });
}

export function validateHostnameOverride(report: Report, path: Path, spec: PodSpec): void {
  const { hostnameOverride: name } = spec;
  if (name === undefined) return;
  if (spec.setHostnameAsFQDN) report.forbidden(path, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork) report.forbidden(path, 'may not be specified when hostNetwork is true');
  if (byteLength(name) > hostnameOverrideMax) report.tooLong(path, hostnameOverrideMax);
  report.problems(path, name, isDNS1123Subdomain(name));
}
