// Rules for file paths in volumes and mounts (pkg/apis/core/validation).
import type { Path } from '#apimachinery/field';
import type { Report } from '../../common/report.ts';

export const fileModeError = 'must be a number between 0 and 0777 (octal), both inclusive';

export const hasBackstep = (path: string): boolean => path.split('/').includes('..');

export function validatePathNoBacksteps(report: Report, path: Path, target: string): void {
  if (hasBackstep(target)) report.invalid(path, target, "must not contain '..'");
}

/** A relative path that stays below where it starts. */
export function validateLocalDescendingPath(report: Report, path: Path, target: string): void {
  if (target.startsWith('/')) report.invalid(path, target, 'must be a relative path');
  validatePathNoBacksteps(report, path, target);
}

/** Checks a relative path inside a volume, and refuses names that start with `..`, which the kubelet keeps for itself. */
export function validateLocalNonReservedPath(report: Report, path: Path, target: string): void {
  validateLocalDescendingPath(report, path, target);
  if (target.startsWith('..') && !target.startsWith('../')) report.invalid(path, target, "must not start with '..'");
}

export function validateFileMode(report: Report, path: Path, mode: number | undefined): void {
  if (mode !== undefined && mode !== null && (mode < 0 || mode > 0o777)) report.invalid(path, mode, fileModeError);
}
