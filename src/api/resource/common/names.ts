// Names in resource.k8s.io (pkg/apis/resource/validation).
import type { Path } from '#apimachinery/field';
import { byteLength, isCIdentifier, isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { isEmpty, type Report } from '../../common/report.ts';
import { csiDriverName as driverName } from '../../core/common/volume-sources.ts';
import { limits } from './limits.ts';

export { csiDriverName as validateDriverName } from '../../core/common/volume-sources.ts';

/** Names of requests, devices and counters. */
export const validateLabel = (report: Report, path: Path, name = ''): void => report.problems(path, name, isDNS1123Label(name));

export function validateClassName(report: Report, path: Path, name = ''): void {
  if (isEmpty(name)) report.required(path);
  else report.problems(path, name, isDNS1123Subdomain(name));
}

export function validatePoolName(report: Report, path: Path, name = ''): void {
  if (name === '') return report.required(path);
  if (byteLength(name) > limits.poolNameBytesMax) report.tooLong(path, limits.poolNameBytesMax);
  for (const part of name.split('/')) report.problems(path, part, isDNS1123Subdomain(part));
}

function validateIdentifier(report: Report, path: Path, id: string): void {
  if (byteLength(id) > limits.identifierBytesMax) report.tooLong(path, limits.identifierBytesMax);
  report.problems(path, id, isCIdentifier(id));
}

/** A C identifier, with or without a domain. Upstream looks at no name with two slashes. */
export function validateQualifiedName(report: Report, path: Path, name: string): void {
  const parts = name.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) validateIdentifier(report, path, first);
  if (parts.length !== 2) return;
  if (first === '') report.invalid(path, '', 'the domain must not be empty');
  else driverName(report, path, first);
  if (second === '') report.invalid(path, '', 'the name must not be empty');
  else validateIdentifier(report, path, second);
}

export function validateFullyQualifiedName(report: Report, path: Path, name: string): void {
  validateQualifiedName(report, path, name);
  if (!name.includes('/')) report.invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash');
}

/** Longest key of attributes and capacities that is shown whole. */
export const qualifiedNameBytesMax = limits.domainBytesMax + 1 + limits.identifierBytesMax;
