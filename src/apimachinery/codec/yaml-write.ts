// JSON value to YAML text, in the form upstream answers (sigs.k8s.io/yaml JSONToYAML): keys in natural order, lists at the indent of their
// key, quotes only where needed, long lines folded after column 80.
import { resolveScalar } from './yaml-scalar.ts';

const indentWidth = 2;
const bestWidth = 80;

/** The YAML document of a JSON value, with a line break at the end. */
export function formatYaml(value: unknown): string {
  const writer = new YamlWriter();
  writer.node(value, -indentWidth, false);
  return writer.finish();
}

class YamlWriter {
  #done: string[] = [];
  #line = '';

  finish(): string {
    if (this.#line !== '') this.#break(0);
    return this.#done.join('');
  }

  #break(indent: number): void {
    this.#done.push(this.#line, '\n');
    this.#line = ' '.repeat(Math.max(0, indent));
  }

  /** Starts a line at `indent`, unless the current one is still blank up to there. */
  #newLine(indent: number): void {
    if (/[^ ]/.test(this.#line)) this.#break(indent);
    else this.#line = ' '.repeat(indent);
  }

  /** `inline`: the node starts right after "- " on the current line. `indent` is that of the owner. */
  node(value: unknown, indent: number, inline: boolean): void {
    if (Array.isArray(value)) this.#sequence(value, indent, inline);
    else if (typeof value === 'object' && value !== null) this.#mapping(value as Record<string, unknown>, indent, inline);
    else this.#scalar(value, Math.max(indentWidth, indent + indentWidth));
  }

  #space(): void {
    if (this.#line !== '' && !this.#line.endsWith(' ')) this.#line += ' ';
  }

  #sequence(items: unknown[], indent: number, inline: boolean): void {
    if (items.length === 0) {
      this.#space();
      this.#line += '[]';
      return;
    }
    const own = inline || indent < 0 ? indent + indentWidth : indent;
    for (const [at, item] of items.entries()) {
      if (!(inline && at === 0)) this.#newLine(own);
      this.#line += '- ';
      this.node(item, own, true);
    }
  }

  #mapping(map: Record<string, unknown>, indent: number, inline: boolean): void {
    const keys = Object.keys(map).filter((key) => map[key] !== undefined);
    if (keys.length === 0) {
      this.#space();
      this.#line += '{}';
      return;
    }
    const own = indent + indentWidth;
    for (const [at, key] of keys.sort(compareNaturally).entries()) {
      if (!(inline && at === 0)) this.#newLine(own);
      const explicit = isLong(key);
      if (explicit) this.#explicitKey(key, own);
      else this.#line += `${quoted(key, styleOf(key))}:`;
      this.node(map[key], own, explicit);
    }
  }

  /** A key that has several lines or is long stands after a question mark; its value follows on a line of its own. */
  #explicitKey(key: string, indent: number): void {
    this.#line += '?';
    this.#scalar(key, indent + indentWidth);
    this.#newLine(indent);
    this.#line += ': ';
  }

  #scalar(value: unknown, indent: number): void {
    this.#space();
    if (typeof value !== 'string') {
      this.#line += typeof value === 'number' ? numberText(value) : String(value ?? 'null');
      return;
    }
    const style = styleOf(value);
    if (style === 'literal') this.#literal(value, indent);
    else this.#folded(quoted(value, style), indent, style === 'double');
  }

  /** Breaks at the first single space after the line has grown too long, and where the text itself has a line or paragraph separator. */
  #folded(text: string, indent: number, double: boolean): void {
    for (let at = 0; at < text.length; at++) {
      const char = text[at] ?? '';
      const outer = at <= 1 || at >= text.length - 2;
      const alone = char === ' ' && text[at - 1] !== ' ' && (double || text[at + 1] !== ' ');
      if (isSeparator(char)) {
        this.#separator(char, isSeparator(text[at + 1]) || at === text.length - 2 ? 0 : indent);
      } else if (alone && !outer && this.#line.length > bestWidth) {
        this.#break(indent);
        if (double && text[at + 1] === ' ') this.#line += '\\';
      } else {
        this.#line += char;
      }
    }
  }

  /** A separator ends the line by itself, without a line feed. */
  #separator(char: string, indent: number): void {
    this.#done.push(this.#line, char);
    this.#line = ' '.repeat(indent);
  }

  #literal(text: string, indent: number): void {
    const hint = /^[ \n\u2028\u2029]/.test(text) ? String(indentWidth) : '';
    const chomp = /(?:^|[\n\u2028\u2029])[\n\u2028\u2029]$/.test(text) ? '+' : /[\n\u2028\u2029]$/.test(text) ? '' : '-';
    this.#line += `|${hint}${chomp}`;
    this.#break(0);
    const parts = text.split(/([\n\u2028\u2029])/);
    for (let at = 0; at < parts.length; at += 2) {
      const [line = '', end] = parts.slice(at, at + 2);
      if (line !== '') this.#line = ' '.repeat(indent) + line;
      if (end === '\n') this.#break(0);
      else if (end !== undefined) this.#separator(end, 0);
    }
  }
}

/** Integers in full as far as Go has them, else Go's shortest %g. */
function numberText(value: number): string {
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64) return String(BigInt(value));
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 21 && !Number.isInteger(value)) return power < 6 ? String(value) : exponential(mantissa, power);
  return exponential(mantissa, power);
}

const exponential = (mantissa: string, power: number): string =>
  `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;

type Style = 'plain' | 'single' | 'double' | 'literal';

const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
// What libyaml calls special: it must be escaped.
const special = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const leadingIndicator = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?= |$))/;
const innerIndicator = /:(?= |$)| #/;

// Unicode's line and paragraph separators end a line in YAML 1.1.
const isSeparator = (char: string | undefined): boolean => char === '\u2028' || char === '\u2029';

/** Whether a key cannot stand before its colon: it has a line break or more than 128 bytes in UTF-8. */
const isLong = (key: string): boolean => /[\n\u2028\u2029]/.test(key) || (key.length > 128 / 3 && Buffer.byteLength(key) > 128);

function styleOf(text: string): Style {
  const unsafe = special.test(text) || / [\n\u2028\u2029]/.test(text);
  if (text.includes('\n')) return unsafe || text.endsWith(' ') ? 'double' : 'literal';
  if (resolveScalar(text).tag !== 'str' || base60.test(text) || unsafe || /[\u2028\u2029] /.test(text)) return 'double';
  const plain = !/^ | $|[\u2028\u2029]/.test(text) && !leadingIndicator.test(text) && !innerIndicator.test(text);
  return plain ? 'plain' : 'single';
}

function quoted(text: string, style: Style): string {
  if (style === 'plain') return text;
  return style === 'single' ? `'${text.replaceAll("'", "''")}'` : `"${escapeDouble(text)}"`;
}

const escapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

const hex = (code: number, width: number): string => code.toString(16).toUpperCase().padStart(width, '0');

function escapeDouble(text: string): string {
  let escaped = '';
  // Upstream escapes every character of a text that starts with a byte order mark.
  const afterMark = text.startsWith('\ufeff');
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const known = escapes[char];
    if (known !== undefined && (afterMark || char !== '\xa0')) escaped += known;
    else if (!special.test(char) && !afterMark) escaped += char;
    else escaped += code <= 0xff ? `\\x${hex(code, 2)}` : code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  }
  return escaped;
}

const isLetter = (char: string): boolean => /\p{L}/u.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && /\p{Nd}/u.test(char);

/** Letters after everything else, runs of digits by their number (go-yaml's order of keys). */
export function compareNaturally(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const [x, y] = [a[at], b[at]];
  if (x === undefined || y === undefined) return a.length - b.length;
  if (isLetter(x) && isLetter(y)) return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
  if (isLetter(x) || isLetter(y)) return isLetter(y) ? -1 : 1;
  const [m, n] = [digitsAt(a, at), digitsAt(b, at)];
  const started = (x === '0' || y === '0') && /[1-9]\d*$/.test(a.slice(0, at).join(''));
  const [p, q] = [Number(`${started ? '1' : ''}${m}`), Number(`${started ? '1' : ''}${n}`)];
  if (p !== q) return p - q;
  return m.length !== n.length ? m.length - n.length : (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
}

function digitsAt(chars: string[], from: number): string {
  let end = from;
  while (isDigit(chars[end])) end++;
  return chars.slice(from, end).join('');
}
