// From a text to a path, taking what upstream's parser takes (k8s.io/client-go/util/jsonpath, parser).
import { JsonPathError, type Node, type Path } from './nodes.ts';

const isTerminator = (char: string): boolean => char === '' || ' \t\r\n.,[]$@{}'.includes(char);
const isWordChar = (char: string): boolean => /^[_\p{L}\p{Nd}]/u.test(char);
const digitOrSign = /^[-+\d]/;

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' };
const escape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([^]))/g;

/** The text between quotes. */
function unquote(quoted: string): string {
  const quote = quoted[0];
  return quoted.slice(1, -1).replace(escape, (whole, x?: string, u?: string, U?: string, octal?: string, one?: string) => {
    const code = x ?? u ?? U;
    if (code !== undefined || octal !== undefined) {
      const value = code === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(code, 16);
      if (value <= 0x10ffff) return String.fromCodePoint(value);
    }
    const known = one === quote ? one : escapes[one ?? ''];
    if (known === undefined) throw new JsonPathError(`unquote string ${quoted} error invalid syntax in ${whole}`);
    return known;
  });
}

class Parser {
  readonly #text: string;
  #at = 0;
  readonly #nodes: Node[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Path {
    while (this.#at < this.#text.length) this.#node();
    return this.#nodes;
  }

  #node(): void {
    const char = this.#text[this.#at] ?? '';
    if (this.#text.startsWith('[?(', this.#at)) this.#nodes.push(this.#filter());
    else if (this.#text.startsWith('..', this.#at)) this.#recursive();
    else if (char === '\n' || char === '\r') throw new JsonPathError('unclosed action');
    else if (char === ' ' || char === '@' || char === '$') this.#at++;
    else if (char === '[') this.#nodes.push(...arrayNodes(this.#until(']', 'unterminated array').slice(1, -1)));
    else if (char === '"' || char === "'") this.#nodes.push({ kind: 'constant', value: unquote(this.#quotation(char)) });
    else if (char === '.') {
      this.#at++;
      this.#field();
    } else if (digitOrSign.test(char)) this.#nodes.push({ kind: 'constant', value: this.#number() });
    else if (isWordChar(this.#text.slice(this.#at, this.#at + 2))) this.#nodes.push(wordNode(this.#word()));
    else throw new JsonPathError(`unrecognized character in action: ${char}`);
  }

  /** The text through `end`. */
  #until(end: string, problem: string): string {
    const from = this.#at;
    const to = this.#text.indexOf(end, from);
    const found = to < 0 ? this.#text.slice(from) : this.#text.slice(from, to + 1);
    if (to < 0 || found.includes('\n')) throw new JsonPathError(problem);
    this.#at = to + 1;
    return found;
  }

  #word(): string {
    const from = this.#at;
    while (!isTerminator(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #field(): void {
    const from = this.#at;
    for (; !isTerminator(this.#text[this.#at] ?? ''); this.#at++) if (this.#text[this.#at] === '\\') this.#at++;
    const name = this.#text.slice(from, this.#at);
    this.#nodes.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') });
  }

  #recursive(): void {
    if (this.#nodes.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent');
    this.#at += 2;
    this.#nodes.push({ kind: 'recursive' });
    if (isWordChar(this.#text.slice(this.#at, this.#at + 2))) this.#field();
  }

  #number(): number {
    const from = this.#at++;
    while (/[\d.]/.test(this.#text[this.#at] ?? '')) this.#at++;
    const text = this.#text.slice(from, this.#at);
    if (!/^[-+]?(\d+(\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`);
    return Number(text);
  }

  #quotation(quote: string): string {
    const from = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\n') break;
      if (char === quote && this.#text[this.#at - 1] !== '\\') return this.#text.slice(from, ++this.#at);
    }
    throw new JsonPathError('unterminated quoted string');
  }

  /** A filter ends at the first parenthesis outside of a quotation. */
  #filter(): Node {
    const from = (this.#at += 3);
    let quote = '';
    let isClosed = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] ?? '';
      if (char === '\n') break;
      if (char === '"' || char === "'") {
        if (quote === '') quote = char;
        else if (char === quote && this.#text[this.#at - 1] !== '\\') isClosed = true;
      } else if (char === ')' && (quote !== '') === isClosed) {
        if (this.#text[this.#at + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
        const inner = this.#text.slice(from, this.#at);
        this.#at += 2;
        return filterNode(inner);
      }
    }
    throw new JsonPathError('unterminated filter');
  }
}

const wordNode = (word: string): Node =>
  word === 'true' || word === 'false' ? { kind: 'constant', value: word === 'true' } : { kind: 'word', name: word };

const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s;

function filterNode(text: string): Node {
  const [, left, operator = '', right = ''] = comparison.exec(text) ?? [];
  if (left === undefined) return { kind: 'filter', left: pathOf(text), operator: 'exists', right: [] };
  return { kind: 'filter', left: pathOf(left), operator, right: pathOf(right) };
}

const key = /^'([^']*)'$/;
const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;

/** What stands between brackets. */
function arrayNodes(inner: string): Path {
  const text = inner === '*' ? ':' : inner;
  const parts = text.split(',');
  if (parts.length > 1) return [{ kind: 'union', paths: parts.map((part) => pathOf(`[${part.replace(/^ +| +$/g, '')}]`)) }];
  const name = key.exec(text)?.[1];
  if (name !== undefined) return pathOf(`.${name}`);
  const found = slice.exec(text);
  if (!found) throw new JsonPathError(`invalid array index ${text}`);
  const [from, to, step] = [found[1], found[2]?.slice(1), found[3]?.slice(1)].map((part) => numberOf(part ?? ''));
  return [{ kind: 'slice', from, to, step, isIndex: found[2] === undefined }];
}

function numberOf(text: string): number | undefined {
  if (text === '') return undefined;
  if (text === '-' || !Number.isSafeInteger(Number(text))) throw new JsonPathError(`array index ${text} is not a number`);
  return Number(text);
}

/** Reads a JSONPath template. Throws `JsonPathError`. */
export function pathOf(text: string): Path {
  return new Parser(text).parse();
}
