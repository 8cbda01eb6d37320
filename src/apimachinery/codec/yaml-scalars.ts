// The scalars of a YAML text: plain, quoted and in blocks, with their lines folded as YAML 1.1 asks for. Each is read once from its start to
// its end, in time that grows with its length.
import { type Cursor, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './yaml-cursor.ts';
import { scannerError } from './yaml-errors.ts';

/** The line breaks between two words of a scalar, with the blanks around them: the first folds. `escaped`: its first break stands for nothing. */
function passGap(cursor: Cursor, isEscaped: boolean, passBlanks: () => void): string {
  let first = isEscaped ? '' : undefined;
  let more = '';
  for (;;) {
    passBlanks();
    if (!isBreak(cursor.code())) break;
    const text = cursor.passBreak();
    if (first === undefined) first = text;
    else more += text;
  }
  if (first !== '\n') return (first ?? '') + more;
  return more === '' ? ' ' : more;
}

const endsInFlow = new Set([...',?[]{}'].map((char) => char.charCodeAt(0)));

/** Passes what a plain scalar has in this line; the blanks at its end are not part of it, but are passed. */
function plainLine(cursor: Cursor, inFlow: boolean): string {
  const { text } = cursor;
  const start = cursor.at;
  let end = start;
  let at = start;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (isBlank(code)) continue;
    if (isBreakOrEnd(code)) break;
    if (code === 58 && isBlankOrEnd(text.charCodeAt(at + 1))) break;
    if (code === 35 && at > end) break;
    if (inFlow && endsInFlow.has(code)) break;
    end = at + 1;
  }
  cursor.at = at;
  return text.slice(start, end);
}

/** A plain scalar from its first character on. `endsLine`: it went on to another line, where a key may stand. */
export function plainScalar(cursor: Cursor, indent: number, inFlow: boolean): { value: string; endsLine: boolean } {
  let value = plainLine(cursor, inFlow);
  while (isBreak(cursor.code())) {
    let broken = false;
    const gap = passGap(cursor, false, () => {
      for (let code = cursor.code(); isBlank(code); code = cursor.code()) {
        if (code === 9 && broken && cursor.column < indent)
          throw scannerError(cursor, 'found a tab character that violates indentation');
        cursor.at++;
      }
      broken = true;
    });
    const isOutside = !inFlow && cursor.column < indent;
    if (isOutside || cursor.isAtDocumentMark || cursor.code() === 35) return { value, endsLine: true };
    const line = plainLine(cursor, inFlow);
    if (line === '') return { value, endsLine: true };
    value += gap + line;
  }
  return { value, endsLine: false };
}

const hasBreak = /[\n\r\u0085\u2028\u2029]/;

/** A scalar in quotes, which the cursor stands at. */
export function quotedScalar(cursor: Cursor): string {
  const single = cursor.code() === 39;
  const whole = single ? singleQuotedLine(cursor) : doubleQuotedLine(cursor);
  return whole ?? quotedLines(cursor, single);
}

/** A scalar in single quotes that ends in its line; undefined for others. */
function singleQuotedLine(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = text.indexOf("'", start);
  let isEscaped = false;
  for (; text.charCodeAt(end + 1) === 39 && end >= 0; end = text.indexOf("'", end + 2)) isEscaped = true;
  const inner = text.slice(start, end);
  if (end < 0 || hasBreak.test(inner)) return undefined;
  cursor.at = end + 1;
  return isEscaped ? inner.replaceAll("''", "'") : inner;
}

const notJson = /\\\/|\\u[dD][89a-fA-F]/;

/** A scalar in double quotes that ends in its line and has the escapes of JSON; undefined for others. */
function doubleQuotedLine(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = text.indexOf('"', start);
  for (; end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) break;
  }
  const inner = text.slice(start, end);
  if (end < 0 || hasBreak.test(inner)) return undefined;
  if (!inner.includes('\\')) {
    cursor.at = end + 1;
    return inner;
  }
  if (notJson.test(inner)) return undefined;
  try {
    const value = JSON.parse(`"${inner}"`) as string;
    cursor.at = end + 1;
    return value;
  } catch {
    return undefined;
  }
}

/** Any scalar in quotes. */
function quotedLines(cursor: Cursor, single: boolean): string {
  const quote = cursor.code();
  let value = '';
  cursor.at++;
  for (;;) {
    if (cursor.isAtDocumentMark) throw scannerError(cursor, 'found unexpected document indicator');
    if (cursor.isAtEnd) throw scannerError(cursor, 'found unexpected end of stream');
    const { word, isEscaped } = single ? singleQuoted(cursor) : doubleQuoted(cursor);
    value += word;
    if (cursor.code() === quote) break;
    const blanks = cursor.at;
    cursor.passBlanks();
    if (isEscaped || isBreak(cursor.code())) value += passGap(cursor, isEscaped, () => cursor.passBlanks());
    else value += cursor.text.slice(blanks, cursor.at);
  }
  cursor.at++;
  return value;
}

interface Word {
  word: string;
  /** Whether it ends with a line break that is escaped, which is passed. */
  isEscaped: boolean;
}

function singleQuoted(cursor: Cursor): Word {
  let word = '';
  let start = cursor.at;
  for (let code = cursor.code(); !isBlankOrEnd(code); code = cursor.code()) {
    if (code === 39) {
      if (cursor.code(1) !== 39) break;
      word += cursor.text.slice(start, cursor.at + 1);
      cursor.at++;
      start = cursor.at + 1;
    }
    cursor.at++;
  }
  return { word: word + cursor.text.slice(start, cursor.at), isEscaped: false };
}

function doubleQuoted(cursor: Cursor): Word {
  let word = '';
  let start = cursor.at;
  for (let code = cursor.code(); !isBlankOrEnd(code) && code !== 34; code = cursor.code()) {
    if (code !== 92) {
      cursor.at++;
      continue;
    }
    word += cursor.text.slice(start, cursor.at);
    if (isBreak(cursor.code(1))) {
      cursor.at++;
      cursor.passBreak();
      return { word, isEscaped: true };
    }
    word += escaped(cursor);
    start = cursor.at;
  }
  return { word: word + cursor.text.slice(start, cursor.at), isEscaped: false };
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const codeLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

function escaped(cursor: Cursor): string {
  const name = cursor.text[cursor.at + 1] ?? '';
  const plain = escapes.get(name);
  const length = codeLengths.get(name);
  if (plain === undefined && length === undefined) throw scannerError(cursor, 'found unknown escape character');
  cursor.at += 2;
  if (length === undefined) return plain as string;
  const digits = cursor.text.slice(cursor.at, cursor.at + length);
  if (digits.length < length || /[^0-9a-fA-F]/.test(digits))
    throw scannerError(cursor, 'did not find expected hexdecimal number');
  const value = Number.parseInt(digits, 16);
  if ((value >= 0xd8_00 && value <= 0xdf_ff) || value > 0x10_ff_ff)
    throw scannerError(cursor, 'found invalid Unicode character escape code');
  cursor.at += length;
  return String.fromCodePoint(value);
}

/** A literal or folded block, whose sign the cursor stands at, inside a block that is indented by `outer`. */
export function blockScalar(cursor: Cursor, outer: number): string {
  const folds = cursor.code() === 62;
  const { chomping, increment } = blockHeader(cursor);
  const block = new BlockLines(cursor, outer);
  if (increment > 0) block.indent = outer >= 0 ? outer + increment : increment;
  let value = '';
  let ending = '';
  let startsBlank = false;
  let breaks = block.passBreaks();
  while (cursor.column === block.indent && !cursor.isAtEnd) {
    const blank = isBlank(cursor.code());
    const joins = folds && ending === '\n' && !startsBlank && !blank;
    if (!joins) value += ending;
    else if (breaks === '') value += ' ';
    startsBlank = blank;
    if (breaks !== '') value += breaks;
    value += cursor.passLine();
    ending = cursor.isAtEnd ? '' : cursor.passBreak();
    breaks = block.passBreaks();
  }
  if (chomping !== '-') value += ending;
  return chomping === '+' ? value + breaks : value;
}

function blockHeader(cursor: Cursor): { chomping: string; increment: number } {
  let chomping = '';
  let increment = 0;
  cursor.at++;
  for (let i = 0; i < 2; i++) {
    const char = cursor.text[cursor.at] ?? '';
    if (chomping === '' && (char === '+' || char === '-')) chomping = char;
    else if (increment === 0 && char >= '0' && char <= '9' && char !== '') {
      if (char === '0') throw scannerError(cursor, 'found an indentation indicator equal to 0');
      increment = Number(char);
    } else break;
    cursor.at++;
  }
  cursor.passBlanks();
  cursor.passComment();
  if (!isBreakOrEnd(cursor.code())) throw scannerError(cursor, 'did not find expected comment or line break');
  if (!cursor.isAtEnd) cursor.passBreak();
  return { chomping, increment };
}

/** The lines of one block: its indentation is that of the first line that is not empty, unless its header says it. */
class BlockLines {
  indent = 0;
  readonly #cursor: Cursor;
  readonly #outer: number;

  constructor(cursor: Cursor, outer: number) {
    this.#cursor = cursor;
    this.#outer = outer;
  }

  /** Passes empty lines and the indentation of the next one; the result is the breaks of the empty ones. */
  passBreaks(): string {
    const cursor = this.#cursor;
    let breaks = '';
    let widest = 0;
    for (;;) {
      while ((this.indent === 0 || cursor.column < this.indent) && cursor.code() === 32) cursor.at++;
      widest = Math.max(widest, cursor.column);
      if ((this.indent === 0 || cursor.column < this.indent) && cursor.code() === 9)
        throw scannerError(cursor, 'found a tab character where an indentation space is expected');
      if (!isBreak(cursor.code())) break;
      breaks += cursor.passBreak();
    }
    if (this.indent === 0) this.indent = Math.max(widest, this.#outer + 1, 1);
    return breaks;
  }
}
