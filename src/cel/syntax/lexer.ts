// Tokens of CEL (https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax), and upstream's messages for text that is no token.
import type { Issue, Literal } from './ast.ts';

export interface Token {
  kind: 'ident' | 'quotedIdent' | 'literal' | 'punctuation' | 'end';
  text: string;
  at: number;
  literal?: Literal;
}

const pairs = new Set(['==', '!=', '<=', '>=', '&&', '||']);
const singles = new Set('[]{}().,-!?:+*/%<>');
const number = /(0x[0-9a-fA-F]+|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|\d+)([uU]?)/y;
const identifier = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const quotedIdentifier = /`([a-zA-Z0-9_.\-/ ]+)`/y;
const blank = /(?:[ \t\r\n\f]+|\/\/[^\n]*)+/y;
const stringStart = /([rR]?[bB]?|[bB][rR])('''|"""|'|")/y;
const int64 = 2n ** 63n;
/** A number with more digits than this is out of range, and is not computed. */
const digitsMax = 1000;

/** Splits a text into tokens; what cannot be read is reported and left out. */
export function tokenize(source: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  // Positions count code points; most texts have one unit each.
  const isPlain = !/[\ud800-\udfff]/.test(source);
  let at = 0;
  // Tokens are met in order: only what lies between two of them is counted.
  let counted = { offset: 0, points: 0 };
  const place = (offset: number): number => {
    if (isPlain) return offset;
    counted = { offset, points: counted.points + Array.from(source.slice(counted.offset, offset)).length };
    return counted.points;
  };
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  while (at < source.length) {
    const skipped = isBlank(source, at) ? take(blank) : null;
    if (skipped) {
      at += skipped[0].length;
      continue;
    }
    const token = tokenAt(source, at, take);
    const start = place(at);
    if (token === undefined) {
      const bad = badText(source, at);
      issues.push({ at: start, message: `Syntax error: token recognition error at: '${bad}'` });
      at += bad.length;
      continue;
    }
    if (token.problem !== undefined) issues.push({ at: start, message: token.problem });
    const { kind, text, literal } = token;
    tokens.push(literal ? { kind, text, at: start, literal } : { kind, text, at: start });
    at += token.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source === '' ? -1 : place(source.length) });
  return { tokens, issues };
}

const isBlank = (source: string, at: number): boolean => source.charCodeAt(at) <= 0x20 || source.startsWith('//', at);
const isDigit = (char: string): boolean => char >= '0' && char <= '9';
const isWordStart = (char: string): boolean => (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || char === '_';
const stringStarts = new Set('\'"rRbB');

/** What starts here, by its first character. */
function tokenAt(source: string, at: number, take: (pattern: RegExp) => RegExpExecArray | null): Read | undefined {
  const char = source[at] ?? '';
  const text = stringStarts.has(char) ? stringToken(source, at) : undefined;
  if (text) return text;
  if (isWordStart(char)) return wordToken(take(identifier));
  if (isDigit(char) || (char === '.' && isDigit(source[at + 1] ?? ''))) return numberToken(take(number));
  return char === '`' ? quotedToken(take(quotedIdentifier)) : punctuationToken(source, at);
}

interface Read {
  kind: Token['kind'];
  text: string;
  length: number;
  literal?: Literal;
  problem?: string;
}

/** A string is bad as far as it cannot go on: to an escape that does not exist, or, where it is open, to the end of the line. */
function badText(source: string, at: number): string {
  const char = source[at] ?? '';
  if (char !== "'" && char !== '"') return String.fromCodePoint(source.codePointAt(at) ?? 0);
  let end = at + 1;
  while (end < source.length && source[end] !== '\n') {
    const wrong = source[end] === '\\' ? escapeAt(source, end) : { end: end + 1, exists: true };
    end = wrong.end;
    if (!wrong.exists) break;
  }
  return source.slice(at, end);
}

const wholeEscape = /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/y;
const begunEscape = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?[^\n]?/suy;

/** Where the escape ends that begins here; one that does not exist ends with the character that it cannot have. */
function escapeAt(source: string, at: number): { end: number; exists: boolean } {
  for (const pattern of [wholeEscape, begunEscape]) {
    pattern.lastIndex = at;
    if (pattern.test(source)) return { end: pattern.lastIndex, exists: pattern === wholeEscape };
  }
  return { end: at + 1, exists: false };
}

function numberToken(match: RegExpExecArray | null): Read | undefined {
  if (!match) return undefined;
  const [text, digits = '', suffix] = match;
  const base = { kind: 'literal' as const, text, length: text.length };
  if (/[.eE]/.test(digits) && !digits.startsWith('0x'))
    return { ...base, length: digits.length, text: digits, literal: { type: 'double', value: Number(digits) } };
  const value = digits.length > digitsMax ? 2n * int64 : BigInt(digits);
  if (suffix)
    return value < 2n * int64
      ? { ...base, literal: { type: 'uint', value } }
      : { ...base, literal: { type: 'uint', value: 0n }, problem: 'invalid uint literal' };
  return { ...base, literal: { type: 'int', value } };
}

function wordToken(match: RegExpExecArray | null): Read | undefined {
  if (!match) return undefined;
  const [text] = match;
  const base = { text, length: text.length };
  if (text === 'true' || text === 'false') return { ...base, kind: 'literal', literal: { type: 'bool', value: text === 'true' } };
  if (text === 'null') return { ...base, kind: 'literal', literal: { type: 'null', value: null } };
  return { ...base, kind: text === 'in' ? 'punctuation' : 'ident' };
}

const quotedToken = (match: RegExpExecArray | null): Read | undefined =>
  match ? { kind: 'quotedIdent', text: match[1] ?? '', length: match[0].length } : undefined;

function punctuationToken(source: string, at: number): Read | undefined {
  const pair = source.slice(at, at + 2);
  if (pairs.has(pair)) return { kind: 'punctuation', text: pair, length: 2 };
  const text = source[at] ?? '';
  return singles.has(text) ? { kind: 'punctuation', text, length: 1 } : undefined;
}

function stringToken(source: string, at: number): Read | undefined {
  stringStart.lastIndex = at;
  const match = stringStart.exec(source);
  if (!match) return undefined;
  const prefix = (match[1] ?? '').toLowerCase();
  const quote = match[2] ?? '';
  const isRaw = prefix.includes('r');
  let end = at + match[0].length;
  while (!source.startsWith(quote, end)) {
    if (end >= source.length || (quote.length === 1 && (source[end] === '\n' || source[end] === '\r'))) return undefined;
    const escape = !isRaw && source[end] === '\\' ? escapeAt(source, end) : undefined;
    if (escape?.exists === false) {
      // A text with a wrong escape is a shorter token: `b'\q'` begins with the name b, and `"""\q"""` with an empty string.
      const isEmpty = prefix === '' && quote.length > 1;
      return isEmpty ? { kind: 'literal', text: '', length: 2, literal: { type: 'string', value: '' } } : undefined;
    }
    end = escape?.end ?? end + 1;
  }
  const body = source.slice(at + match[0].length, end);
  const text = source.slice(at, end + quote.length);
  const isBytes = prefix.includes('b');
  const value = isRaw ? body : unescape(body, isBytes);
  const base: Read = { kind: 'literal', text, length: text.length };
  if (value === undefined)
    return { ...base, literal: { type: 'string', value: '' }, problem: 'Syntax error: invalid escape sequence' };
  if (!isBytes) return { ...base, literal: { type: 'string', value: typeof value === 'string' ? value : '' } };
  return { ...base, literal: { type: 'bytes', value: typeof value === 'string' ? new TextEncoder().encode(value) : value } };
}

const simpleEscapes: Record<string, string> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};
const codeEscape = /^(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/;

/** What the inside of a literal stands for: text, or bytes where it `isBytes`; undefined where it has an escape that does not exist. */
function unescape(body: string, isBytes: boolean): string | Uint8Array | undefined {
  if (!body.includes('\\')) return body;
  const parts: (string | number)[] = [];
  for (let at = 0; at < body.length; at++) {
    const char = body[at] ?? '';
    if (char !== '\\') {
      parts.push(char);
      continue;
    }
    const rest = body.slice(at + 1);
    const simple = simpleEscapes[rest[0] ?? ''];
    if (simple !== undefined) {
      parts.push(simple);
      at++;
      continue;
    }
    const match = codeEscape.exec(rest);
    if (!match) return undefined;
    const code =
      match[4] === undefined ? Number.parseInt(match[1] ?? match[2] ?? match[3] ?? '', 16) : Number.parseInt(match[4], 8);
    if (code > 0x10ffff || (isBytes && code > 0xff)) return undefined;
    parts.push(isBytes ? code : String.fromCodePoint(code));
    at += match[0].length;
  }
  if (!isBytes) return parts.join('');
  const encoder = new TextEncoder();
  return Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...encoder.encode(part)])));
}
