// JSON that may be megabytes long, read and written in steps: what other servers answer, and documents that are made of it. A body of a request is
// short enough to be read at once (`parseJson`).
import { setOwn, type Steps } from '#utils';
import { DecodeError, TooLargeError } from './context.ts';
import { endOfString, measuring, parseJson, wellFormed } from './json-text.ts';
import { jsonKeysMax, jsonStepChars, jsonStepValues, jsonValuesMax } from './limits.ts';

export interface ReadingOptions {
  valuesMax?: number;
  /** How many keys one object may have that is longer than a step. */
  keysMax?: number;
  stepChars?: number;
}

/** The value of the text. Throws what `parseJson` throws. */
export function* readingJson(given: string, options: ReadingOptions = {}): Steps<unknown> {
  const { valuesMax = jsonValuesMax, keysMax = jsonKeysMax, stepChars = jsonStepChars } = options;
  if (given.length <= stepChars) return parseJson(given, { valuesMax }).value;
  const text = wellFormed(given);
  yield;
  yield* measuring(text, valuesMax);
  return yield* new PieceReader(text, keysMax, stepChars).read();
}

const space = /[ \t\r\n]*/y;
const brackets: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
/** The value of a text that was measured. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // It says what is wrong.
    return parseJson(text).value;
  }
};
const endsEarly = (): DecodeError => new DecodeError('unexpected end of JSON input');

/** Reads the members of what is longer than a step in portions, each with the runtime's own parser. The text was measured: it is not too deep. */
class PieceReader {
  readonly #text: string;
  readonly #keysMax: number;
  readonly #stepChars: number;
  #at = 0;

  constructor(text: string, keysMax: number, stepChars: number) {
    this.#text = text;
    this.#keysMax = keysMax;
    this.#stepChars = stepChars;
  }

  *read(): Steps<unknown> {
    this.#space();
    const isLong = (this.#text[this.#at] ?? '') in brackets;
    if (!isLong) return parsed(this.#text);
    const value = yield* this.#container();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return value;
  }

  /** What begins here: portions of short members, and long members by themselves. */
  *#container(): Steps<unknown> {
    const open = this.#text[this.#at] as '{' | '[';
    const made: unknown[] | Record<string, unknown> = open === '[' ? [] : {};
    let keys = 0;
    let isFirst = true;
    this.#at++;
    for (;;) {
      yield;
      const begin = this.#at;
      const end = this.#endOfPortion();
      if (end === undefined) {
        yield* this.#longMember(made);
        keys++;
      } else {
        const portion = this.#text.slice(begin, end);
        const isEmpty = !/[^ \t\r\n]/.test(portion);
        if (isEmpty && !(isFirst && this.#text[end] !== ',')) throw this.#unexpected('looking for beginning of value');
        keys += add(made, parsed(open + portion + brackets[open]));
        this.#at = end;
      }
      if (keys > this.#keysMax && open === '{') throw new TooLargeError(this.#keysMax, 'keys');
      isFirst = false;
      const next = this.#text[this.#at++];
      if (next === ',') continue;
      if (next === brackets[open]) return made;
      this.#at--;
      throw this.#unexpected(open === '{' ? 'after object key:value pair' : 'after array element');
    }
  }

  /** One object or array that is longer than a step, with its key. Leaves the place behind it. */
  *#longMember(made: unknown[] | Record<string, unknown>): Steps<void> {
    this.#space();
    let key = '';
    if (!Array.isArray(made)) {
      if (this.#text[this.#at] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const end = endOfString(this.#text, this.#at);
      key = parsed(this.#text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#unexpected('after object key');
      this.#at++;
      this.#space();
    }
    if (!((this.#text[this.#at] ?? '') in brackets)) throw this.#unexpected('looking for beginning of value');
    const value = yield* this.#container();
    if (Array.isArray(made)) made.push(value);
    else setOwn(made, key, value);
    this.#space();
  }

  /** Where the last member ends that begins here and is not too long, with those before it; undefined: the first one is too long. */
  #endOfPortion(): number | undefined {
    const text = this.#text;
    const pauseAt = this.#at + this.#stepChars;
    let depth = 0;
    let end: number | undefined;
    for (let at = this.#at; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === 34) at = endOfString(text, at);
      else if (char === 123 || char === 91) depth++;
      else if (char === 125 || char === 93) {
        if (depth-- === 0) return at;
      } else if (char === 44 && depth === 0) end = at;
      if (at > pauseAt && (depth > 0 || end !== undefined)) return end;
    }
    throw endsEarly();
  }

  #space(): void {
    space.lastIndex = this.#at;
    space.test(this.#text);
    this.#at = space.lastIndex;
  }

  /** The error that the whole text's reader has for what stands here. */
  #unexpected(where: string): DecodeError {
    const char = this.#text[this.#at];
    return char === undefined ? endsEarly() : new DecodeError(`invalid character ${JSON.stringify(char)} ${where}`);
  }
}

/** Takes the members of a portion in; how many there are. */
function add(made: unknown[] | Record<string, unknown>, portion: unknown): number {
  if (Array.isArray(made)) {
    for (const item of portion as unknown[]) made.push(item);
    return made.length;
  }
  const keys = Object.keys(portion as object);
  for (const key of keys) setOwn(made, key, (portion as Record<string, unknown>)[key]);
  return keys.length;
}

/** The text that `JSON.stringify` makes of a JSON value. Maps with texts as keys are written as objects, which is for those of very many keys. */
export function* writingJson(value: unknown, stepValues: number = jsonStepValues): Steps<string> {
  const writer = new PieceWriter(stepValues);
  yield* writer.write(value);
  return writer.text();
}

class PieceWriter {
  readonly #parts: string[] = [];
  /** How many values may be written before the next pause. */
  #left: number;
  readonly #stepValues: number;

  constructor(stepValues: number) {
    this.#left = stepValues;
    this.#stepValues = stepValues;
  }

  text(): string {
    return this.#parts.join('');
  }

  *write(value: unknown): Steps<void> {
    const left = weighed(value, this.#left);
    if (left >= 0) {
      this.#left = left;
      this.#parts.push(JSON.stringify(value));
    } else if (isContainer(value)) yield* this.#container(value);
    else {
      yield;
      this.#parts.push(JSON.stringify(value));
      this.#left = this.#stepValues;
    }
  }

  *#container(value: object): Steps<void> {
    yield;
    this.#left = this.#stepValues;
    const isList = Array.isArray(value);
    const [open, close] = isList ? '[]' : '{}';
    const entries: Iterable<[unknown, unknown]> = isList ? value.entries() : jsonMembers(value);
    let before = open as string;
    for (const [key, member] of entries) {
      if (member === undefined && !isList) continue;
      this.#parts.push(isList ? before : `${before}${JSON.stringify(key)}:`);
      before = ',';
      yield* this.write(member ?? null);
    }
    this.#parts.push(before === open ? `${open}${close}` : (close as string));
  }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** The members of an object, or of a map that stands for one. */
export const jsonMembers = (value: object): Iterable<[string, unknown]> =>
  value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value);

/** Characters of a text that take as long as one value. */
const charsOfValue = 64;

/** What is left of so many values once this one is written; below zero: it is too much, whatever it is. Maps are always too much. */
function weighed(value: unknown, left: number): number {
  if (typeof value === 'string') return left - 1 - Math.floor(value.length / charsOfValue);
  if (!isContainer(value)) return left - 1;
  if (value instanceof Map) return -1;
  let rest = left - 1;
  if (Array.isArray(value)) {
    for (const item of value) {
      rest = weighed(item, rest);
      if (rest < 0) return rest;
    }
    return rest;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    rest = weighed((value as Record<string, unknown>)[key], rest - 1);
    if (rest < 0) return rest;
  }
  return rest;
}
