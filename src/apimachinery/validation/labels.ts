// Labels, annotations and label selectors inside objects (k8s.io/apimachinery/pkg/apis/meta/v1/validation). Upstream walks maps in random
// order; here keys are visited sorted, so the same object always gets the same answer.
import { type FieldError, forbidden, gather, invalid, type Path, required, tooLong } from '../field/index.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../meta/index.ts';
import { annotationsBytesMax } from './limits.ts';
import { isLabelValue, isQualifiedName } from './names.ts';
import { byteLength } from './texts.ts';

export const validateLabelName = (name: string, path: Path): FieldError[] =>
  isQualifiedName(name).map((problem) => invalid(path, name, problem));

function areGoodLabels(labels: Readonly<Record<string, string>>): boolean {
  for (const key in labels) if (isQualifiedName(key).length > 0 || isLabelValue(labels[key] ?? '').length > 0) return false;
  return true;
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: Path): FieldError[] {
  // Sorted, and put into words, only where something is wrong: an object may have tens of thousands.
  if (labels === undefined || areGoodLabels(labels)) return [];
  return gather(Object.keys(labels).sort(), (key) => {
    const value = labels[key] ?? '';
    return [...validateLabelName(key, path), ...isLabelValue(value).map((problem) => invalid(path, value, problem))];
  });
}

export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, path: Path): FieldError[] {
  if (annotations === undefined) return [];
  const keys = Object.keys(annotations).sort();
  const errors = gather(keys, (key) => isQualifiedName(key.toLowerCase()).map((problem) => invalid(path, key, problem)));
  let bytes = 0;
  for (const key of keys) bytes += byteLength(key) + byteLength(annotations[key] ?? '');
  if (bytes > annotationsBytesMax) errors.push(tooLong(path, annotationsBytesMax));
  return errors;
}

export interface LabelSelectorOptions {
  /** Values of `values` may break the rules of label values (kept for objects stored before the rule). */
  allowInvalidValues?: boolean;
  /** Unknown operators are someone else's to refuse. */
  allowUnknownOperators?: boolean;
}

const setOperators = new Set<string>(['In', 'NotIn']);
const presenceOperators = new Set<string>(['Exists', 'DoesNotExist']);

export function validateLabelSelectorRequirement(
  requirement: LabelSelectorRequirement,
  path: Path,
  options: LabelSelectorOptions = {},
): FieldError[] {
  const { key, operator, values = [] } = requirement;
  const errors: FieldError[] = [];
  if (setOperators.has(operator)) {
    if (values.length === 0) errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (presenceOperators.has(operator)) {
    if (values.length > 0) {
      errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (!options.allowUnknownOperators) {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'));
  }
  errors.push(...validateLabelName(key, path.child('key')));
  if (options.allowInvalidValues) return errors;
  const ofValues = gather(values, (value, i) =>
    isLabelValue(value).map((problem) => invalid(path.child('values').index(i), value, problem)),
  );
  return [...errors, ...ofValues];
}

export function validateLabelSelector(
  selector: LabelSelector | undefined | null,
  path: Path,
  options: LabelSelectorOptions = {},
): FieldError[] {
  if (selector === undefined || selector === null) return [];
  const expressions = selector.matchExpressions ?? [];
  return [
    ...validateLabels(selector.matchLabels, path.child('matchLabels')),
    ...gather(expressions, (one, i) => validateLabelSelectorRequirement(one, path.child('matchExpressions').index(i), options)),
  ];
}

/** A stored selector already breaks the rule for values: an update may keep it. */
export const labelSelectorHasInvalidValue = (selector: LabelSelector | undefined | null): boolean =>
  selector?.matchExpressions?.some((one) => one.values?.some((value) => isLabelValue(value).length > 0)) ?? false;
