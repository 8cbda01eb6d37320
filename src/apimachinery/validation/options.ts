// The options of a request (k8s.io/apimachinery/pkg/apis/meta/v1/validation): query parameters and the DeleteOptions body.
import { isPrint } from '#utils';
import { type FieldError, forbidden, invalid, notSupported, type Path, required, root, tooLong } from '../field/index.ts';
import { fieldManagerLengthMax } from './limits.ts';
import { byteLength } from './texts.ts';

export function validateFieldManager(manager: string, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(manager) > fieldManagerLengthMax) errors.push(tooLong(path, fieldManagerLengthMax));
  if (/^[ -~]*$/.test(manager)) return errors;
  let at = 0;
  for (const char of manager) {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    if (!isPrint(char)) errors.push(invalid(path, manager, `invalid character U+${code} (at position ${at})`));
    at += byteLength(char);
  }
  return errors;
}

export const validateDryRun = (dryRun: readonly string[] | undefined, path: Path): FieldError[] =>
  dryRun?.some((value) => value !== 'All') ? [notSupported(path, dryRun, ['All'])] : [];

const validations = ['', 'Ignore', 'Strict', 'Warn'];

export const validateFieldValidation = (value: string, path: Path): FieldError[] =>
  validations.includes(value) ? [] : [notSupported(path, value, validations)];

export interface WriteOptions {
  fieldManager?: string;
  dryRun?: readonly string[];
  fieldValidation?: string;
}

/** Checks what CreateOptions and UpdateOptions have in common. */
export const validateWriteOptions = (options: WriteOptions): FieldError[] => [
  ...validateFieldManager(options.fieldManager ?? '', root('fieldManager')),
  ...validateDryRun(options.dryRun, root('dryRun')),
  ...validateFieldValidation(options.fieldValidation ?? '', root('fieldValidation')),
];

/** Checks PatchOptions; `apply` says that the patch is a server-side apply. */
export function validatePatchOptions(options: WriteOptions & { force?: boolean }, apply: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (apply && (options.fieldManager ?? '') === '') errors.push(required(root('fieldManager'), 'is required for apply patch'));
  if (!apply && options.force !== undefined) errors.push(forbidden(root('force'), 'may not be specified for non-apply patch'));
  return [...errors, ...validateWriteOptions(options)];
}

export interface DeleteOptionsFields {
  dryRun?: readonly string[];
  propagationPolicy?: string;
  orphanDependents?: boolean;
}

export function validateDeleteOptions(options: DeleteOptionsFields): FieldError[] {
  const path = root('propagationPolicy');
  const { propagationPolicy: policy } = options;
  const errors: FieldError[] = [];
  if (options.orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalid(path, policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && policy !== 'Foreground' && policy !== 'Background' && policy !== 'Orphan') {
    errors.push(notSupported(path, policy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  return [...errors, ...validateDryRun(options.dryRun, root('dryRun'))];
}
