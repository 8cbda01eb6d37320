// References to a pod's own fields and resources, in variables and in volumes (pkg/apis/core/validation and pkg/fieldpath).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isQualifiedName } from '#apimachinery/validation';
import { parseQuantity } from '#apimachinery/quantity';
import { isEmpty, type Report } from '../../../common/report.ts';
import { validateFileMode, validateLocalNonReservedPath } from '../../common/paths.ts';

const volumeFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const selectable = new Set([...volumeFields, ...envFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase']);

const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const hugePages = ['limits.hugepages-', 'requests.hugepages-'];

/** Splits `metadata.labels['key']` into path and key; undefined where the path has no subscript. */
export function splitSubscript(path: string): { path: string; subscript: string } | undefined {
  const match = /^(.+?)\['(.*)'\]$/s.exec(path);
  return match === null ? undefined : { path: match[1] ?? '', subscript: match[2] ?? '' };
}

export const validateEnvFieldRef = (report: Report, path: Path, ref: core.ObjectFieldSelector): void =>
  validateFieldRef(report, path, ref, envFields);

function conversionProblem(ref: core.ObjectFieldSelector): string | undefined {
  if (ref.apiVersion !== 'v1') return `unsupported pod version: ${ref.apiVersion}`;
  const subscripted = splitSubscript(ref.fieldPath);
  if (subscripted === undefined) {
    return selectable.has(ref.fieldPath) || ref.fieldPath === 'spec.host'
      ? undefined
      : `field label not supported: ${ref.fieldPath}`;
  }
  const { path } = subscripted;
  return path === 'metadata.annotations' || path === 'metadata.labels'
    ? undefined
    : `field label does not support subscript: ${ref.fieldPath}`;
}

function validateFieldRef(report: Report, path: Path, ref: core.ObjectFieldSelector, supported: string[]): void {
  if (isEmpty(ref.apiVersion)) return report.required(path.child('apiVersion'));
  if (isEmpty(ref.fieldPath)) return report.required(path.child('fieldPath'));
  const problem = conversionProblem(ref);
  if (problem !== undefined)
    return report.invalid(path.child('fieldPath'), ref.fieldPath, `error converting fieldPath: ${problem}`);
  const subscripted = splitSubscript(ref.fieldPath);
  if (subscripted) {
    const key = subscripted.path === 'metadata.annotations' ? subscripted.subscript.toLowerCase() : subscripted.subscript;
    return report.problems(path, key, isQualifiedName(key));
  }
  report.known(path.child('fieldPath'), ref.fieldPath === 'spec.host' ? 'spec.nodeName' : ref.fieldPath, supported);
}

export function validateResourceFieldRef(report: Report, path: Path, ref: core.ResourceFieldSelector, inVolume: boolean): void {
  if (inVolume && isEmpty(ref.containerName)) report.required(path.child('containerName'));
  else if (isEmpty(ref.resource)) report.required(path.child('resource'));
  else if (!hugePages.some((prefix) => ref.resource.startsWith(prefix)))
    report.known(path.child('resource'), ref.resource, resources);
  validateDivisor(report, path.child('divisor'), ref);
}

const sizes = ['1', ...['k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit) => `1${unit}`)];

function validateDivisor(report: Report, path: Path, { resource, divisor }: core.ResourceFieldSelector): void {
  if (divisor === undefined || parseQuantity(divisor).isZero) return;
  const text = parseQuantity(divisor).toString();
  if (resource === 'limits.cpu' || resource === 'requests.cpu') {
    if (text !== '1m' && text !== '1')
      report.invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  const kind = sizedKind(resource ?? '');
  if (kind !== undefined && !sizes.includes(text)) {
    report.invalid(path, resource, `only divisor's values ${sizes.join(', ')} are supported with the ${kind} resource`);
  }
}

function sizedKind(resource: string): string | undefined {
  if (resource.endsWith('.memory')) return 'memory';
  if (resource.endsWith('.ephemeral-storage')) return 'local ephemeral storage';
  return hugePages.some((prefix) => resource.startsWith(prefix)) ? 'hugepages' : undefined;
}

export function validateDownwardAPIFile(report: Report, path: Path, file: core.DownwardAPIVolumeFile): void {
  report.need(path, file, 'path');
  validateLocalNonReservedPath(report, path.child('path'), file.path ?? '');
  if (file.fieldRef) {
    validateFieldRef(report, path.child('fieldRef'), file.fieldRef, volumeFields);
    if (file.resourceFieldRef)
      report.invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (file.resourceFieldRef) validateResourceFieldRef(report, path.child('resourceFieldRef'), file.resourceFieldRef, true);
  else report.required(path, 'one of fieldRef and resourceFieldRef is required');
  validateFileMode(report, path.child('mode'), file.mode);
}
