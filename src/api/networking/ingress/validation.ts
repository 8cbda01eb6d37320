// Rules of ingresses (pkg/apis/networking/validation, ValidateIngressSpec).
import type * as networking from '#api/networking/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import {
  isDNS1123Label,
  isDNS1123Subdomain,
  isPortName,
  isPortNumber,
  isWildcardDNS1123Subdomain,
} from '#apimachinery/validation';
import { familyOf, validateLegacyIP } from '../../common/ip.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateTypedReference } from '../common/references.ts';

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badSuffixes = ['/..', '/.'];
const notAnIP = 'must be a DNS name, not an IP address';

const hostProblems = (host: string): string[] =>
  host.includes('*') ? isWildcardDNS1123Subdomain(host) : isDNS1123Subdomain(host);
const secretProblems = (name = ''): string[] => (name === '' ? [] : isDNS1123Subdomain(name));

/** What the old object had wrong may stay. */
export interface IngressRules {
  allowInvalidSecretName: boolean;
  allowInvalidWildcardHostRule: boolean;
}

export const strictRules: IngressRules = { allowInvalidSecretName: false, allowInvalidWildcardHostRule: false };

export function rulesForUpdate({ spec = {} }: networking.Ingress): IngressRules {
  return {
    allowInvalidSecretName: (spec.tls ?? []).some(({ secretName }) => secretProblems(secretName).length > 0),
    allowInvalidWildcardHostRule: (spec.rules ?? []).some(
      (rule) => rule.host?.includes('*') && collect((report) => validateRuleValue(report, root('rules'), rule)).length > 0,
    ),
  };
}

export function validateIngress(report: Report, { spec = {} }: networking.Ingress, rules: IngressRules): void {
  const path = root('spec');
  if (isEmpty(spec.rules) && !spec.defaultBackend)
    report.invalid(path, spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified');
  if (spec.defaultBackend) validateBackend(report, path.child('defaultBackend'), spec.defaultBackend);
  spec.rules?.forEach((rule, index) => validateRule(report, path.child('rules').index(index), rule, rules));
  spec.tls?.forEach((tls, index) => validateTLS(report, path.child('tls').index(index), tls, rules));
  const { ingressClassName: name } = spec;
  if (name !== undefined) report.problems(path.child('ingressClassName'), name, isDNS1123Subdomain(name));
}

function validateRule(report: Report, path: Path, rule: networking.IngressRule, rules: IngressRules): void {
  const { host = '' } = rule;
  if (host !== '') {
    if (familyOf(host) !== undefined) report.invalid(path.child('host'), host, notAnIP);
    report.problems(path.child('host'), host, hostProblems(host));
  }
  if (!host.includes('*') || !rules.allowInvalidWildcardHostRule) validateRuleValue(report, path, rule);
}

function validateRuleValue(report: Report, path: Path, { http }: networking.IngressRuleValue): void {
  if (!http) return;
  const at = path.child('http', 'paths');
  if (isEmpty(http.paths)) report.required(at);
  http.paths?.forEach((one, index) => validatePath(report, at.index(index), one));
}

function validatePath(report: Report, path: Path, { path: url = '', pathType, backend }: networking.HTTPIngressPath): void {
  if (pathType === undefined || pathType === null) return report.required(path.child('pathType'), 'pathType must be specified');
  const at = path.child('path');
  const isAbsolute = url.startsWith('/');
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!isAbsolute) report.invalid(at, url, 'must be an absolute path');
    for (const bad of badSequences) if (url.includes(bad)) report.invalid(at, url, `must not contain '${bad}'`);
    for (const bad of badSuffixes) if (url.endsWith(bad)) report.invalid(at, url, `cannot end with '${bad}'`);
  } else if (pathType === 'ImplementationSpecific') {
    if (url !== '' && !isAbsolute) report.invalid(at, url, 'must be an absolute path');
  } else report.notSupported(path.child('pathType'), pathType, pathTypes);
  validateBackend(report, path.child('backend'), backend ?? {});
}

function validateBackend(report: Report, path: Path, { resource, service }: networking.IngressBackend): void {
  if (resource && service) return report.invalid(path, '', 'cannot set both resource and service backends');
  if (resource) return validateTypedReference(report, path.child('resource'), resource);
  if (!service) return report.invalid(path, '', 'resource or service backend is required');
  const { name: serviceName, port = {} } = service;
  const at = path.child('service');
  if (isEmpty(serviceName)) report.required(at.child('name'));
  else report.problems(at.child('name'), serviceName, isDNS1123Label(serviceName));
  const { name = '', number = 0 } = port;
  if (name !== '' && number !== 0) report.invalid(path, '', 'cannot set both port name & port number');
  else if (name !== '') report.problems(at.child('port', 'name'), name, isPortName(name));
  else if (number !== 0) report.problems(at.child('port', 'number'), number, isPortNumber(number));
  else report.required(path, 'port name or number is required');
}

function validateTLS(report: Report, path: Path, { hosts, secretName }: networking.IngressTLS, rules: IngressRules): void {
  hosts?.forEach((host, index) => report.problems(path.child('hosts').index(index), host, hostProblems(host)));
  if (!rules.allowInvalidSecretName) report.problems(path.child('secretName'), secretName, secretProblems(secretName));
}

const ingressOf = ({ status }: networking.Ingress): networking.IngressLoadBalancerIngress[] =>
  status?.loadBalancer?.ingress ?? [];

export function validateIngressStatus(ingress: networking.Ingress, old: networking.Ingress): FieldError[] {
  const before = ingressOf(old).flatMap(({ ip }) => (ip ? [ip] : []));
  return collect((report) =>
    ingressOf(ingress).forEach(({ ip, hostname }, index) => {
      const path = root('status', 'loadBalancer', 'ingress').index(index);
      if (ip) validateLegacyIP(report, path.child('ip'), ip, before);
      if (!hostname) return;
      report.problems(path.child('hostname'), hostname, isDNS1123Subdomain(hostname));
      if (familyOf(hostname) !== undefined) report.invalid(path.child('hostname'), hostname, notAnIP);
    }),
  );
}
