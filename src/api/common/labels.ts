// Labels, annotations and label selectors inside specs, reported (k8s.io/apimachinery/pkg/apis/meta/v1/validation).
import type { Path } from '#apimachinery/field';
import type { LabelSelector } from '#apimachinery/labels';
import * as rules from '#apimachinery/validation';
import { isEmpty, isEmptyMap, type Report } from './report.ts';

/** A selector as the generated types spell it: operators are plain texts until they are validated. */
export interface SelectorShape {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export const validateLabelName = (report: Report, path: Path, name: string | undefined): void =>
  report.problems(path, name ?? '', rules.isQualifiedName(name ?? ''));

export function validateLabels(report: Report, path: Path, labels: Record<string, string> | undefined): void {
  if (!isEmptyMap(labels)) report.add(rules.validateLabels(labels, path));
}

export function validateAnnotations(report: Report, path: Path, annotations: Record<string, string> | undefined): void {
  if (!isEmptyMap(annotations)) report.add(rules.validateAnnotations(annotations, path));
}

/** `allowInvalidValues`: the old object had such a value, so it may stay. */
export function validateLabelSelector(
  report: Report,
  path: Path,
  selector: SelectorShape | undefined,
  allowInvalidValues = false,
): void {
  if (selector) report.add(rules.validateLabelSelector(selector as LabelSelector, path, { allowInvalidValues }));
}

export const selectorHasInvalidValue = (selector: SelectorShape | undefined): boolean =>
  rules.labelSelectorHasInvalidValue(selector as LabelSelector | undefined);

/** Whether a selector has no requirement at all. */
export const isEmptySelector = (selector: SelectorShape | undefined): boolean =>
  isEmptyMap(selector?.matchLabels) && isEmpty(selector?.matchExpressions);

/** A map as upstream prints one: its keys in order. */
export const sortedByKey = (labels: Record<string, string> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(labels ?? {}).sort(([left], [right]) => (left < right ? -1 : 1)));
