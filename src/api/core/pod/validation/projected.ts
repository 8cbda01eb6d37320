// Rules of projected volumes (pkg/apis/core/validation, validateProjectionSources). Trust bundles and pod certificates are dropped before
// validation: their feature gates are off by default in v1.36.
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isEmpty, type Report } from '../../../common/report.ts';
import { validateFileMode, validateLocalNonReservedPath } from '../../common/paths.ts';
import { validateDownwardAPIFile } from './downward-api.ts';
import type { PodRules } from './rules.ts';
import { validateKeyToPath } from './key-to-path.ts';

/** Paths taken so far; two sources may not write the same file. */
type Taken = (file: string, shown?: string) => void;

export function validateProjected(report: Report, path: Path, projected: core.ProjectedVolumeSource, rules: PodRules): void {
  validateFileMode(report, path.child('defaultMode'), projected.defaultMode);
  const seen = new Set<string>();
  const take: Taken = (file, shown = file) => {
    if (isEmpty(file)) return;
    if (seen.has(file)) report.invalid(path, shown, 'conflicting duplicate paths');
    seen.add(file);
  };
  projected.sources?.forEach((source, index) => {
    const at = path.child('sources').index(index);
    validateKeys(report, at.child('secret'), source.secret, take);
    validateKeys(report, at.child('configMap'), source.configMap, take);
    for (const file of source.downwardAPI?.items ?? []) {
      validateDownwardAPIFile(report, at.child('downwardAPI'), file);
      take(file.path);
    }
    if (source.serviceAccountToken)
      validateToken(report, path, at.child('serviceAccountToken'), source.serviceAccountToken, rules);
    const count = Object.values(source).filter((one) => one !== undefined && one !== null).length;
    if (count > 1) report.forbidden(at, 'may not specify more than 1 volume type per source');
  });
}

function validateKeys(
  report: Report,
  path: Path,
  source: core.SecretProjection | core.ConfigMapProjection | undefined,
  take: Taken,
): void {
  if (!source) return;
  report.need(path, source, 'name');
  source.items?.forEach((item, index) => {
    validateKeyToPath(report, path.child('items').index(index), item);
    take(item.path, source.name ?? '');
  });
}

// Upstream reports the token's path on the volume, not on the source.
function validateToken(
  report: Report,
  volume: Path,
  path: Path,
  token: core.ServiceAccountTokenProjection,
  rules: PodRules,
): void {
  const seconds = token.expirationSeconds ?? 0;
  if (seconds < 600) report.invalid(path.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > 2 ** 32)
    report.invalid(path.child('expirationSeconds'), seconds, 'may not specify a duration larger than 2^32 seconds');
  if (isEmpty(token.path)) report.required(volume.child('path'));
  else if (!rules.allowNonLocalTokenPath) validateLocalNonReservedPath(report, volume.child('path'), token.path);
}
