// Collects validation failures of one object. Rules take the report and a path and add to it, so that a valid object costs no lists; the
// order of the calls is the order of the causes a client sees (k8s.io/apimachinery/pkg/util/validation/field, ErrorList).
import * as field from '#apimachinery/field';
import { type FieldError, fieldErrorsMax, Path } from '#apimachinery/field';

/** The path of a failure that is nowhere in particular, as upstream prints one: `[]`. */
export const nowhere: Path = new Path(undefined, '', true);

/** Ends the validation of an object that has more failures than an answer lists. */
class Enough extends Error {}

export class Report {
  readonly errors: FieldError[] = [];

  get count(): number {
    return this.errors.length;
  }

  #note(error: FieldError): void {
    this.errors.push(error);
    if (this.errors.length > fieldErrorsMax) throw new Enough();
  }

  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.#note(error);
  }

  required(path: Path, detail = ''): void {
    this.#note(field.required(path, detail));
  }

  forbidden(path: Path, detail: string): void {
    this.#note(field.forbidden(path, detail));
  }

  invalid(path: Path, value: unknown, detail: string): void {
    this.#note(field.invalid(path, value, detail));
  }

  duplicate(path: Path, value: unknown): void {
    this.#note(field.duplicate(path, value));
  }

  notFound(path: Path, value: unknown, detail?: string): void {
    const error = field.notFound(path, value);
    this.#note(detail === undefined ? error : { ...error, detail });
  }

  notSupported(path: Path, value: unknown, supported: readonly string[]): void {
    this.#note(field.notSupported(path, value, supported));
  }

  tooLong(path: Path, limit: number): void {
    this.#note(field.tooLong(path, limit));
  }

  tooMany(path: Path, actual: number, limit: number): void {
    this.#note(field.tooMany(path, actual, limit));
  }

  /** One `invalid` for each problem that a grammar found with `value`. */
  problems(path: Path, value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(path, value, problem);
  }

  /** `required` for each of these fields of `owner` that is absent or empty. */
  need<T extends object>(path: Path, owner: T, ...names: (keyof T & string)[]): void {
    for (const name of names) if (isEmpty(owner[name])) this.required(path.child(name));
  }

  /** A value of an enumeration: `required` when empty, `notSupported` when unknown. */
  oneOf(path: Path, value: string | undefined, supported: readonly string[]): void {
    if (isEmpty(value)) this.required(path);
    else this.known(path, value, supported);
  }

  /** Like `oneOf`, but an empty value is only unknown, not missing. */
  known(path: Path, value: string | undefined, supported: readonly string[]): void {
    if (!supported.includes(value ?? '')) this.notSupported(path, value ?? '', supported);
  }

  /** Like `known`, for a field that may be absent. */
  knownIfSet(path: Path, value: string | undefined | null, supported: readonly string[]): void {
    if (value !== undefined && value !== null) this.known(path, value, supported);
  }
}

/** Runs rules that report and returns what they found. */
export function collect(rules: (report: Report) => void): FieldError[] {
  return collectIn(new Report(), rules);
}

export function collectIn<R extends Report>(report: R, rules: (report: R) => void): FieldError[] {
  try {
    rules(report);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return report.errors;
}

/** Whether a value is absent, '' or an empty list: what Go's `len(x) == 0` means for strings and lists. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Whether a map is absent or has no keys. */
export function isEmptyMap(value: object | undefined | null): boolean {
  if (value === undefined || value === null) return true;
  for (const _ in value) return false;
  return true;
}
