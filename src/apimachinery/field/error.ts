// One validation failure, and its text as upstream prints it (k8s.io/apimachinery/pkg/util/validation/field, Error).
import { goPrint, quote } from '#utils';
import type { Path } from './path.ts';

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooShort'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

/** One validation failure. `detail` is upstream's text after the value. */
export interface FieldError {
  type: FieldErrorType;
  /** Rendered path, e.g. `spec.containers[0].name`. */
  field: string;
  /** The offending value, or undefined where upstream prints none. */
  badValue?: unknown;
  detail: string;
}

const titles: Record<FieldErrorType, string> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooShort: 'Too short',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  InternalError: 'Internal error',
  FieldValueTypeInvalid: 'Invalid value',
};

const showsValue: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotFound',
  'FieldValueDuplicate',
  'FieldValueInvalid',
  'FieldValueNotSupported',
  'FieldValueTooMany',
  'FieldValueTooFew',
  'FieldValueTypeInvalid',
]);

/** JSON as Go's encoder writes it, which escapes what could end a script element, in every string. `indent`: spaces per level. */
export function goJson(value: unknown, indent = 0): string {
  const text = (indent === 0 ? JSON.stringify(value) : JSON.stringify(value, undefined, indent)) ?? 'null';
  // Nearly no text has any of them, and most texts are short: looking is cheaper than replacing nothing.
  return /[<>&\u2028\u2029]/.test(text) ? text.replace(/[<>&\u2028\u2029]/g, escaped) : text;
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const renderValue = (value: unknown): string => {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return goPrint(value);
  return goJson(value);
};

/** The failure without its field: `Invalid value: "x": must be ...`. What `details.causes[].message` holds. */
export function errorBody(error: FieldError): string {
  const title = titles[error.type];
  const head = showsValue.has(error.type) && error.badValue !== undefined ? `${title}: ${renderValue(error.badValue)}` : title;
  return error.detail === '' ? head : `${head}: ${error.detail}`;
}

/** The whole failure: `spec.x: Invalid value: ...`. */
export const errorText = (error: FieldError): string => `${error.field}: ${errorBody(error)}`;

/** Distinct texts of several failures as one: `a`, or `[a, b]`. '' for none. */
export function aggregate(errors: readonly FieldError[]): string {
  return aggregateTexts(errors.map(errorText));
}

/** Distinct texts as one: `a`, or `[a, b]` (k8s.io/apimachinery/pkg/util/errors, Aggregate). */
export function aggregateTexts(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}

const make = (type: FieldErrorType, path: Path | undefined, badValue: unknown, detail: string): FieldError => ({
  type,
  field: path === undefined ? '<nil>' : path.toString(),
  ...(badValue !== undefined && { badValue }),
  detail,
});

const count = (limit: number, unit: string): string => `${limit} ${unit}${limit === 1 ? '' : 's'}`;

/** A value that is not there where one must be. */
export const required = (path: Path, detail = ''): FieldError => make('FieldValueRequired', path, undefined, detail);

/** A value against the rules. `value` is printed: a string quoted, everything else as JSON; undefined prints none. */
export const invalid = (path: Path | undefined, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, value, detail);

/** A value of the wrong JSON type. */
export const typeInvalid = (path: Path, value: unknown, detail: string): FieldError =>
  make('FieldValueTypeInvalid', path, value, detail);

/** A value outside an enumeration; `supported` is listed in the order given (upstream sorts most of its lists). */
export const notSupported = (path: Path | undefined, value: unknown, supported: readonly string[]): FieldError =>
  make(
    'FieldValueNotSupported',
    path,
    value,
    supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`,
  );

/** A field that may not be set here. */
export const forbidden = (path: Path, detail: string): FieldError => make('FieldValueForbidden', path, undefined, detail);

export const duplicate = (path: Path, value: unknown): FieldError => make('FieldValueDuplicate', path, value, '');

/** A reference to something that does not exist. */
export const notFound = (path: Path, value: unknown): FieldError => make('FieldValueNotFound', path, value, '');

/** The error of a text that may have at most `limit` bytes. A negative limit is not named. */
export const tooLong = (path: Path, limit: number): FieldError =>
  make('FieldValueTooLong', path, undefined, limit < 0 ? 'value is too long' : `may not be more than ${count(limit, 'byte')}`);

/** The error of a text that may have at most `limit` characters, as schemas declare it. */
export const tooLongCharacters = (path: Path, limit: number): FieldError =>
  make(
    'FieldValueTooLong',
    path,
    undefined,
    limit < 0 ? 'value is too long' : `may not be more than ${count(limit, 'character')}`,
  );

/** The error of a text that must have at least `limit` characters. */
export const tooShort = (path: Path, limit: number): FieldError =>
  make('FieldValueTooShort', path, undefined, limit < 0 ? 'value is too short' : `must be at least ${count(limit, 'character')}`);

/** More than `limit` items. A negative `actual` or limit is not printed. */
export const tooMany = (path: Path, actual: number, limit: number): FieldError =>
  make(
    'FieldValueTooMany',
    path,
    actual < 0 ? undefined : actual,
    limit < 0 ? 'has too many items' : `must have at most ${count(limit, 'item')}`,
  );

/** The error of a list that must have at least `limit` items. */
export const tooFew = (path: Path, actual: number, limit: number): FieldError =>
  make('FieldValueTooFew', path, actual, limit < 0 ? 'has too few items' : `must have at least ${count(limit, 'item')}`);

/** A failure of the server while validating. */
export const internal = (path: Path, message: string): FieldError => make('InternalError', path, undefined, message);
