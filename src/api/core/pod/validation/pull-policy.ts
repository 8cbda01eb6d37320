// When an image is pulled (pkg/apis/core/validation, validatePullPolicy).
import type { Path } from '#apimachinery/field';
import type { Report } from '../../../common/report.ts';

const policies = ['Always', 'IfNotPresent', 'Never'];

export const validatePullPolicy = (report: Report, path: Path, policy: string | undefined): void =>
  report.oneOf(path, policy, policies);
