// What classes of volumes share: a driver's name and its parameters (pkg/apis/storage/validation).
import { type Path, root } from '#apimachinery/field';
import { byteLength, isQualifiedName } from '#apimachinery/validation';
import { isEmpty, isEmptyMap, type Report } from '../../common/report.ts';

const parametersBytesMax = 256 * 1024;
const parametersMax = 512;

export function validateProvisioner(report: Report, path: Path, name: string | undefined): void {
  if (isEmpty(name)) return report.required(path);
  const lower = (name ?? '').toLowerCase();
  report.problems(path, lower, isQualifiedName(lower));
}

export function validateParameters(report: Report, parameters: Record<string, string> | undefined, mayBeEmpty: boolean): void {
  const path = root('parameters');
  const entries = Object.entries(parameters ?? {});
  if (entries.length > parametersMax) return report.tooLong(path, parametersMax);
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') report.invalid(path, key, 'field can not be empty.');
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > parametersBytesMax) report.tooLong(path, parametersBytesMax);
  if (!mayBeEmpty && isEmptyMap(parameters)) report.required(path, 'must contain at least one key/value pair');
}
