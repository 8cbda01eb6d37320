// Regular expressions in RE2's syntax (https://github.com/google/re2/wiki/Syntax) over the host's: what only the host knows is refused.
import { CelError } from './values.ts';

const compiled = new Map<string, RegExp>();
const cachedMax = 512;
const inlineFlags = /^\(\?([imsU]+)\)/;
const unknownToRE2 = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;

/** The matcher of a pattern; throws `CelError` when it is none. */
export function matcher(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  if (unknownToRE2.test(pattern)) throw new CelError(`error parsing regexp: invalid or unsupported Perl syntax: \`${pattern}\``);
  const flags = inlineFlags.exec(pattern);
  const source = (flags ? pattern.slice(flags[0].length) : pattern)
    .replaceAll('(?P<', '(?<')
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$')
    .replaceAll(/\[\[:(\^?)(\w+):\]\]/g, (whole, not: string, name: string) => (posix[name] ? `[${not}${posix[name]}]` : whole));
  try {
    const made = new RegExp(source, `${flags?.[1]?.replace('U', '') ?? ''}`);
    if (compiled.size >= cachedMax) compiled.clear();
    compiled.set(pattern, made);
    return made;
  } catch {
    throw new CelError(`error parsing regexp: invalid pattern: \`${pattern}\``);
  }
}

const lookaround = /\(\?(?:[=!]|<(?=[=!]))/;
const backReference = /\\[1-9]/;

/** Of what the host refuses, the words of Go's regexp/syntax. */
function hostProblem(pattern: string, why: string): string {
  if (why.includes('Unterminated group')) return `missing closing ): \`${pattern}\``;
  if (why.includes("Unmatched ')'")) return `unexpected ): \`${pattern}\``;
  if (why.includes('Unterminated character class')) return `missing closing ]: \`${pattern.slice(pattern.lastIndexOf('['))}\``;
  if (why.includes('Nothing to repeat'))
    return `missing argument to repetition operator: \`${/(?:^|[(|])([*+?])/.exec(pattern)?.[1] ?? '*'}\``;
  if (why.includes('out of order in {}')) return `invalid repeat count: \`${/\{\d+,\d+\}/.exec(pattern)?.[0] ?? ''}\``;
  if (why.includes('Range out of order')) {
    const ranges = [...pattern.matchAll(/([^\\[])-([^\]])/g)].filter(([, from = '', to = '']) => from > to);
    return `invalid character class range: \`${ranges[0]?.[0] ?? ''}\``;
  }
  return why.includes('\\ at end') ? 'trailing backslash at end of expression: ``' : why;
}

/** What Go's regexp package has against a pattern; undefined: nothing. */
export function patternProblem(pattern: string): string | undefined {
  const around = lookaround.exec(pattern)?.[0];
  if (around !== undefined) return `error parsing regexp: invalid or unsupported Perl syntax: \`${around}\``;
  const reference = backReference.exec(pattern)?.[0];
  if (reference !== undefined) return `error parsing regexp: invalid escape sequence: \`${reference}\``;
  try {
    new RegExp(pattern.replaceAll('(?P<', '(?<').replace(inlineFlags, ''));
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${hostProblem(pattern, (error as Error).message)}`;
  }
}

const posix: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
