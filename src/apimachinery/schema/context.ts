// What a decoding run knows of where it is, and what it found: the first type error, unknown and duplicate fields. Messages are those of
// sigs.k8s.io/json, which the API shows to clients.
import { quote } from '#utils';
import { strictErrorsMax } from './limits.ts';

/** What Go's UnmarshalTypeError holds. `path` names fields from the outermost struct. */
export interface Mismatch {
  value: string;
  goType: string;
  path: string[];
  /** What the wanted type is in Go: a scalar kind, `slice`, `map`, or `own` for one that reads its JSON itself; absent for structs. */
  kind?: string | undefined;
  /** The value is a number that Go reads as a fraction. */
  isFraction?: true;
}

/** A body that cannot be read as its type. The apiserver answers BadRequest with `message` inside. */
export class DecodeError extends Error {
  /** What a JSON value of the wrong type was, and which Go type was wanted. */
  readonly mismatch: Mismatch | undefined;
  constructor(message: string, mismatch?: Mismatch) {
    super(message);
    this.name = 'DecodeError';
    this.mismatch = mismatch;
  }
}

/** A body that holds more than is read of one. The apiserver answers RequestEntityTooLarge. */
export class TooLargeError extends DecodeError {
  /** How much it may hold, and of what. */
  readonly limit: string;
  constructor(max: number, what = 'values') {
    super(`exceeded max number of ${what} ${max}`);
    this.name = 'TooLargeError';
    this.limit = `${max} ${what}`;
  }
}

/** What JSON.parse loses of a text (see `parseJson`): objects that hold a key twice -> the repeated keys, and how numbers were written. */
export class Duplicates extends WeakMap<object, string[]> {
  /** Objects that hold a key twice -> all their keys in the order of the text. */
  readonly order = new WeakMap<object, string[]>();
  /** Object -> key -> a number that is not written as a plain integer: Go reads no `1.0` into an int32. */
  readonly literals = new WeakMap<object, Map<string, string>>();
  /** The first number that is too large for any. */
  beyond: string | undefined;
}

/** 'object', 'array', 'string', 'number' or 'bool', as Go's messages name a JSON value. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

export class DecodeContext {
  /** Values are known to be well-formed: nothing is checked, only the order and omissions are made canonical. */
  readonly trusted: boolean;
  readonly strict: boolean;
  /** Fields are read in the order of their struct. */
  readonly byField: boolean;
  readonly duplicates: Duplicates | undefined;
  readonly strictErrors: string[] = [];
  /** Of the number being read, if it is not written as a plain integer. */
  literal: string | undefined;
  firstError: DecodeError | undefined;
  #structs: string[] = [];
  #goPath: string[] = [];
  #path: string[] = [];

  constructor(options: { trusted?: boolean; strict?: boolean; byField?: boolean; duplicates?: Duplicates | undefined }) {
    this.trusted = options.trusted ?? false;
    this.strict = options.strict ?? false;
    this.byField = options.byField ?? false;
    this.duplicates = options.duplicates;
  }

  enterField(struct: string, goPath: string, name: string): void {
    this.#structs.push(struct);
    this.#goPath.push(goPath);
    this.#path.push(this.#path.length === 0 ? name : `.${name}`);
  }

  leaveField(): void {
    this.#structs.pop();
    this.#goPath.pop();
    this.#path.pop();
  }

  enterKey(key: string): void {
    this.#path.push(this.#path.length === 0 ? key : `.${key}`);
  }

  enterIndex(index: number): void {
    this.#path.push(`[${index}]`);
  }

  leave(): void {
    this.#path.pop();
  }

  unknownField(name: string): void {
    if (this.strict) this.#strictError('unknown field', name);
  }

  duplicateField(name: string): void {
    if (this.strict) this.#strictError('duplicate field', name);
  }

  #strictError(what: string, name: string): void {
    if (this.strictErrors.length >= strictErrorsMax) return;
    const message = `${what} ${quote(this.#path.length === 0 ? name : `${this.#path.join('')}.${name}`)}`;
    if (!this.strictErrors.includes(message)) this.strictErrors.push(message);
  }

  /** Go goes on after such an error and reports the first one in the end. */
  save(error: DecodeError): void {
    this.firstError ??= error;
  }

  /** Saves that a value is of another JSON type than the wanted one. */
  saveWrong(value: unknown, goType: string, kind?: string): void {
    const error = this.mismatch(jsonKind(value), goType, kind);
    const written = this.literal ?? String(value as number);
    if (typeof value === 'number' && error.mismatch && /[.eE]/.test(written)) error.mismatch.isFraction = true;
    this.save(error);
  }

  /** `inner` is the path inside a value with a decoder of its own. */
  mismatch(value: string, goType: string, kind?: string, inner: string[] = []): DecodeError {
    const path = [...this.#goPath, ...inner];
    const place = path.length === 0 ? 'Go value' : `Go struct field ${this.#structs.at(-1)}.${path.join('.')}`;
    return new DecodeError(`json: cannot unmarshal ${value} into ${place} of type ${goType}`, { value, goType, path, kind });
  }
}
