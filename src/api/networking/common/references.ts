// References to objects of any kind (pkg/apis/networking/validation).
import type { Path } from '#apimachinery/field';
import { isDNS1123Subdomain, isPathSegmentName } from '#apimachinery/validation';
import { isEmpty, type Report } from '../../common/report.ts';

/** A name that must be there and fit into a URL. */
export function validateSegment(report: Report, path: Path, value: string | undefined): void {
  if (isEmpty(value)) report.required(path);
  else report.problems(path, value, isPathSegmentName(value ?? ''));
}

export function validateTypedReference(
  report: Report,
  path: Path,
  { apiGroup, kind, name }: { apiGroup?: string | null; kind?: string; name?: string },
): void {
  if (typeof apiGroup === 'string') report.problems(path.child('apiGroup'), apiGroup, isDNS1123Subdomain(apiGroup));
  validateSegment(report, path.child('kind'), kind);
  validateSegment(report, path.child('name'), name);
}
