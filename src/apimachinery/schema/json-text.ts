// JSON text to value. The fast path is JSON.parse; our own parser only runs to say what is wrong in Go's words (encoding/json), or to find what
// JSON.parse loses: which keys an object holds twice, and how numbers that are not plain integers were written.
import { DecodeError, Duplicates } from './context.ts';
import { jsonDepthMax } from './limits.ts';

export interface ParsedJson {
  value: unknown;
  /** Set when the text holds duplicate keys and they were asked for, or numbers that are not plain integers. */
  duplicates?: Duplicates;
}

/** Throws `DecodeError` with Go's message for text that is not JSON. The last of equal keys wins. */
export function parseJson(text: string, options: { findDuplicates?: boolean } = {}): ParsedJson {
  let value: unknown;
  const { keys, depth, fractions } = measure(text);
  if (depth > jsonDepthMax) throw new DecodeError('exceeded max depth');
  try {
    value = JSON.parse(text);
  } catch {
    new JsonReader(text).read();
    throw new DecodeError('invalid JSON');
  }
  if (!fractions && (!options.findDuplicates || countKeys(value) === keys)) return { value };
  return new JsonReader(text).read();
}

/** How many keys the text holds, how deep it nests, and whether it has numbers with a point or an exponent, without parsing it. */
function measure(text: string): { keys: number; depth: number; fractions: boolean } {
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  let fractions = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 34) at = endOfString(text, at);
    else if (char === 58) keys++;
    else if (char === 123 || char === 91) deepest = Math.max(deepest, ++depth);
    else if (char === 125 || char === 93) depth--;
    else if (char === 46 || ((char === 101 || char === 69) && isDigitCode(text.charCodeAt(at - 1)))) fractions = true;
  }
  return { keys, depth: deepest, fractions };
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;

function endOfString(text: string, start: number): number {
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
  for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key]);
  return count;
}

const whitespace = new Set([' ', '\t', '\r', '\n']);
const escapes: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A character as Go's syntax errors print it. */
const quoteChar = (char: string): string => {
  if (char === "'") return `'\\''`;
  return char === '"' ? `'"'` : `'${JSON.stringify(char).slice(1, -1)}'`;
};

class JsonReader {
  readonly #text: string;
  readonly #duplicates: Duplicates = new Duplicates();
  /** How the last value was written, if it was a number that is not a plain integer. */
  #numberText: string | undefined;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ParsedJson {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: this.#duplicates };
  }

  #space(): void {
    while (whitespace.has(this.#text[this.#at] ?? '')) this.#at++;
  }

  #unexpected(where: string): DecodeError {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
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
    this.#at++;
    if (++this.#depth > jsonDepthMax) throw new DecodeError('exceeded max depth');
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
        this.#duplicates.set(object, [...(this.#duplicates.get(object) ?? []), key]);
        this.#duplicates.order.set(object, keys);
      }
      keys.push(key);
      const value = this.#value();
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
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
    let text = '';
    this.#at++;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char < ' ') throw this.#unexpected('in string literal');
      this.#at++;
      if (char === '"') return text;
      text += char === '\\' ? this.#escape() : char;
    }
  }

  #escape(): string {
    const char = this.#text[this.#at];
    if (char === 'u') {
      this.#at++;
      const start = this.#at;
      for (; this.#at < start + 4; this.#at++) {
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? '')) throw this.#unexpected('in \\u hexadecimal character escape');
      }
      return String.fromCharCode(Number.parseInt(this.#text.slice(start, this.#at), 16));
    }
    const plain = char === undefined ? undefined : escapes[char];
    if (plain === undefined) throw this.#unexpected('in string escape code');
    this.#at++;
    return plain;
  }

  #literal<T>(word: string, value: T): T {
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
    const text = this.#text.slice(start, this.#at);
    this.#numberText = /^-?\d+$/.test(text) ? undefined : text;
    return Number(text);
  }
}
