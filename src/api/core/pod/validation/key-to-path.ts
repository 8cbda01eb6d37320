// Keys of config maps and secrets as files of a volume (pkg/apis/core/validation, validateKeyToPath).
import type { KeyToPath } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import type { Report } from '../../../common/report.ts';
import { validateFileMode, validateLocalNonReservedPath } from '../../common/paths.ts';

export function validateKeyToPath(report: Report, path: Path, item: KeyToPath): void {
  report.need(path, item, 'key', 'path');
  validateLocalNonReservedPath(report, path.child('path'), item.path ?? '');
  validateFileMode(report, path.child('mode'), item.mode);
}
