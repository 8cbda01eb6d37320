// JSON text to value. The fast path is JSON.parse; our own parser only runs to say what is wrong in Go's words (encoding/json), or to find what
// JSON.parse loses: which keys an object holds twice, and how numbers that are not plain integers were written.
import { finish, quote, setOwn, type Steps } from '#utils';
import { DecodeError, Duplicates, TooLargeError } from './context.ts';
import { jsonDepthMax, jsonStepChars, jsonValuesMax } from './limits.ts';

export interface ParsedJson {
  value: unknown;
  /** Set when the text holds duplicate keys and they were asked for, or numbers that are not plain integers. */
  duplicates?: Duplicates;
}

/**
 * Throws `DecodeError` with Go's message for text that is not JSON, and `TooLargeError` for text that holds too much. The last of equal keys
 * wins.
 */
export const parseJson = (given: string, options: ParseOptions = {}): ParsedJson => finish(parsingJson(given, options));

export interface ParseOptions {
  findDuplicates?: boolean;
  valuesMax?: number;
  /** Each character of the text stands for one byte. */
  isBytes?: boolean;
}

/** `parseJson` with pauses between its passes over a long text. */
export function* parsingJson(given: string, options: ParseOptions = {}): Steps<ParsedJson> {
  let value: unknown;
  const isLong = given.length > jsonStepChars;
  const text = wellFormed(given);
  const { keys, fractions } = yield* measuring(text, options.valuesMax ?? jsonValuesMax);
  if (isLong) yield;
  try {
    value = JSON.parse(text);
  } catch {
    new JsonReader(text, options.isBytes).read();
    throw new DecodeError('invalid JSON');
  }
  if (isLong) yield;
  if (!fractions && (!options.findDuplicates || countKeys(value) === keys)) return { value };
  if (isLong) yield;
  return new JsonReader(text).read();
}

const mayHoldSurrogates = /\\u[dD][89a-fA-F]/;
const escapes = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[^]/g;
const loneEscapeLength = 6;

/** The text with U+FFFD for each escaped half of a surrogate pair that stands alone, as Go reads it: UTF-8 cannot hold one. */
export const wellFormed = (text: string): string =>
  mayHoldSurrogates.test(text) ? text.replace(escapes, (one) => (one.length === loneEscapeLength ? '\\ufffd' : one)) : text;

/** Characters between two pauses. */
const measuredAtOnce = 1024 * 1024;

/**
 * How many keys the text holds, and whether it has numbers with a point or an exponent, without parsing it: a text that is too deep or holds
 * too much is refused here, for the price of looking at its characters. Values are counted as brackets, strings and commas.
 */
export function* measuring(text: string, valuesMax: number): Steps<{ keys: number; fractions: boolean }> {
  let pauseAt = measuredAtOnce;
  let keys = 0;
  let depth = 0;
  let values = 0;
  let fractions = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 34) {
      at = endOfString(text, at);
      values++;
    } else if (char === 44) values++;
    else if (char === 58) keys++;
    else if (char === 123 || char === 91) {
      values++;
      if (++depth > jsonDepthMax) throw tooDeep(text[at] ?? '');
    } else if (char === 125 || char === 93) depth--;
    else if (char === 46 || ((char === 101 || char === 69) && isDigitCode(text.charCodeAt(at - 1)))) fractions = true;
    if (values > valuesMax) throw new TooLargeError(valuesMax);
    if (at > pauseAt) {
      yield;
      pauseAt = at + measuredAtOnce;
    }
  }
  return { keys, fractions };
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;

/** Where the string that begins at `start` has its closing quote; the end of the text: nowhere. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countKeys(element);
    return count;
  }
  for (const inner of Object.values(value)) count += 1 + countKeys(inner);
  return count;
}

const blank = /[ \t\r\n]*/y;
const plainNumber = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE])/y;
// oxlint-disable-next-line no-control-regex -- these may not stand in a string
const notPlain = /[\\\0-\x1f]/;

/** The first byte of a character in UTF-8, as the character of that number: Go knows no more of what it did not expect. */
const firstByte = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return char;
  return String.fromCharCode(code < 0x8_00 ? 0xc0 | (code >> 6) : code < 0x1_00_00 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18));
};

/** A character as Go's syntax errors print it. */
const quoteChar = (char: string): string => {
  if (char === "'") return `'\\''`;
  return char === '"' ? `'"'` : `'${quote(char).slice(1, -1)}'`;
};

const tooDeep = (bracket: string): DecodeError => new DecodeError(`invalid character ${quoteChar(bracket)} exceeded max depth`);

class JsonReader {
  readonly #text: string;
  readonly #duplicates: Duplicates = new Duplicates();
  /** How the last value was written, if it was a number that is not a plain integer. */
  #numberText: string | undefined;
  #at = 0;
  #depth = 0;

  readonly #isBytes: boolean;

  constructor(text: string, isBytes = false) {
    this.#text = text;
    this.#isBytes = isBytes;
  }

  read(): ParsedJson {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: this.#duplicates };
  }

  #space(): void {
    if (this.#text.charCodeAt(this.#at) > 32) return;
    blank.lastIndex = this.#at;
    blank.test(this.#text);
    this.#at = blank.lastIndex;
  }

  #unexpected(where: string): DecodeError {
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const char = this.#isBytes ? found : firstByte(found);
    return new DecodeError(
      this.#at >= this.#text.length ? 'unexpected end of JSON input' : `invalid character ${quoteChar(char)} ${where}`,
    );
  }

  #value(): unknown {
    this.#space();
    const char = this.#text[this.#at];
    if (char === '{') return this.#object();
    if (char === '[') return this.#array();
    if (char === '"') return this.#string();
    if (char === 't') return this.#literal('true', true);
    if (char === 'f') return this.#literal('false', false);
    if (char === 'n') return this.#literal('null', null);
    if (char === '-' || this.#isDigit()) return this.#number();
    throw this.#unexpected('looking for beginning of value');
  }

  #enter(): void {
    if (++this.#depth > jsonDepthMax) throw tooDeep(this.#text[this.#at] ?? '');
    this.#at++;
    this.#space();
  }

  #leave(): void {
    this.#at++;
    this.#depth--;
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const keys: string[] = [];
    this.#enter();
    if (this.#text[this.#at] === '}') {
      this.#leave();
      return object;
    }
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#unexpected('after object key');
      this.#at++;
      if (Object.hasOwn(object, key)) {
        const repeated = this.#duplicates.get(object);
        if (repeated) repeated.push(key);
        else this.#duplicates.set(object, [key]).order.set(object, keys);
      }
      keys.push(key);
      const value = this.#value();
      setOwn(object, key, value);
      this.#noteLiteral(object, key, value);
      this.#space();
      const next = this.#text[this.#at];
      if (next !== ',' && next !== '}') throw this.#unexpected('after object key:value pair');
      if (next === '}') {
        this.#leave();
        return object;
      }
      this.#at++;
    }
  }

  #noteLiteral(object: object, key: string, value: unknown): void {
    const literals = this.#duplicates.literals.get(object);
    if (typeof value !== 'number' || this.#numberText === undefined) literals?.delete(key);
    else this.#duplicates.literals.set(object, (literals ?? new Map<string, string>()).set(key, this.#numberText));
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    this.#enter();
    if (this.#text[this.#at] === ']') {
      this.#leave();
      return array;
    }
    for (;;) {
      array.push(this.#value());
      this.#space();
      const next = this.#text[this.#at];
      if (next !== ',' && next !== ']') throw this.#unexpected('after array element');
      if (next === ']') {
        this.#leave();
        return array;
      }
      this.#at++;
    }
  }

  #string(): string {
    const end = endOfString(this.#text, this.#at);
    const plain = this.#text.slice(this.#at + 1, end);
    if (end < this.#text.length && !notPlain.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    return this.#spelledString(end);
  }

  /** A string with escapes, or one that is wrong. */
  #spelledString(end: number): string {
    const text = this.#text.slice(this.#at, end + 1);
    try {
      const value = JSON.parse(text) as string;
      this.#at = end + 1;
      return value;
    } catch {
      throw this.#wrongString();
    }
  }

  #wrongString(): DecodeError {
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (!(code >= 32) || code === 34) return this.#unexpected('in string literal');
      if (code !== 92) continue;
      const escape = this.#text[++this.#at] ?? '';
      if (escape !== 'u' && !'"\\/bfnrt'.includes(escape || ' ')) return this.#unexpected('in string escape code');
      if (escape !== 'u') continue;
      for (let digits = 0; digits < 4; digits++) {
        this.#at++;
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) return this.#unexpected('in \\u hexadecimal character escape');
      }
    }
  }

  #literal<T>(word: string, value: T): T {
    if (this.#text.startsWith(word, this.#at)) {
      this.#at += word.length;
      return value;
    }
    for (const [index, char] of [...word].entries()) {
      if (this.#text[this.#at] !== char)
        throw this.#unexpected(index === 0 ? '' : `in literal ${word} (expecting ${quoteChar(char)})`);
      this.#at++;
    }
    return value;
  }

  #isDigit(): boolean {
    return /[0-9]/.test(this.#text[this.#at] ?? '');
  }

  #digits(where: string): void {
    if (!this.#isDigit()) throw this.#unexpected(where);
    while (this.#isDigit()) this.#at++;
  }

  #number(): number {
    plainNumber.lastIndex = this.#at;
    const [known] = plainNumber.exec(this.#text) ?? [];
    if (known !== undefined) {
      this.#at += known.length;
      return this.#numeric(known);
    }
    const start = this.#at;
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (/[eE]/.test(this.#text[this.#at] ?? '')) {
      this.#at++;
      if (/[+-]/.test(this.#text[this.#at] ?? '')) this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    return this.#numeric(this.#text.slice(start, this.#at));
  }

  #numeric(text: string): number {
    this.#numberText = /^-?\d+$/.test(text) ? undefined : text;
    const value = Number(text);
    if (!Number.isFinite(value)) this.#duplicates.beyond ??= text;
    return value;
  }
}
