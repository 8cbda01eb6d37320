// Field selectors (k8s.io/apimachinery/pkg/fields): equality terms on a few fields of an object. Their texts of refusal are upstream's.
import { own } from '#utils';
import { badRequest } from '../errors/index.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** The selectable fields of one object; absent ones count as ''. */
export type Fields = Readonly<Record<string, string>>;

export interface FieldSelector {
  matches(fields: Fields): boolean;
  /** Selects everything. */
  readonly empty: boolean;
  readonly nothing: boolean;
  readonly requirements: readonly FieldRequirement[];
  /** The value this field must have, if the selector says so: what an index can be asked for. */
  exactMatch(field: string): string | undefined;
  /** Renames or drops terms: return undefined to drop one. */
  transform(change: (term: FieldRequirement) => FieldRequirement | undefined): FieldSelector;
  toString(): string;
}

const valueOf = (fields: Fields, field: string): string => {
  const value = own(fields, field);
  return typeof value === 'string' ? value : '';
};

/** All terms as one test. It costs what the fields are, however many the terms are. */
function compile(requirements: readonly FieldRequirement[]): (fields: Fields) => boolean {
  const wanted = new Map<string, string>();
  const refused = new Map<string, Set<string>>();
  for (const { field, operator, value } of requirements) {
    if (operator === '!=') refused.set(field, (refused.get(field) ?? new Set()).add(value));
    else if ((wanted.get(field) ?? value) !== value) return () => false;
    else wanted.set(field, value);
  }
  return (fields) => {
    for (const [field, value] of wanted) if (valueOf(fields, field) !== value) return false;
    for (const [field, values] of refused) if (values.has(valueOf(fields, field))) return false;
    return true;
  };
}

/** The selector of objects that meet all of these requirements. */
export function fieldSelectorOf(requirements: readonly FieldRequirement[]): FieldSelector {
  return {
    matches: compile(requirements),
    requirements,
    empty: requirements.length === 0,
    nothing: false,
    exactMatch: (field) => requirements.find((term) => term.field === field && term.operator === '=')?.value,
    transform(change) {
      const terms = requirements.flatMap((term) => change(term) ?? []);
      return terms.length === 0 ? everything : fieldSelectorOf(terms);
    },
    toString: () => requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(','),
  };
}

/** The selector that every object matches. */
export const everything: FieldSelector = fieldSelectorOf([]);

/** The selector that no object matches. */
export const nothing: FieldSelector = {
  requirements: [],
  empty: false,
  nothing: true,
  matches: () => false,
  exactMatch: () => undefined,
  transform: () => nothing,
  toString: () => '',
};

/** The selector `field=value`. */
export const oneTermEqual = (field: string, value: string): FieldSelector => fieldSelectorOf([{ field, operator: '=', value }]);

/** Puts a backslash before the characters that separate the terms of a selector. */
export const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** The inverse of `escapeValue`. Throws a 400 StatusError for a bare separator or an unknown escape. */
export function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  let escaped = false;
  for (const char of text) {
    if (escaped) {
      if (char !== '\\' && char !== ',' && char !== '=')
        throw badRequest(`invalid field selector: invalid escape sequence: \\${char}`);
      value += char;
      escaped = false;
    } else if (char === '\\') {
      escaped = true;
    } else if (char === ',' || char === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      value += char;
    }
  }
  if (escaped) throw badRequest('invalid field selector: invalid escape sequence: \\');
  return value;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** Reads `a=b,c!=d`. Throws a 400 StatusError with upstream's text. */
export function parse(text: string): FieldSelector {
  const terms: FieldRequirement[] = [];
  for (const part of splitTerms(text).sort()) {
    if (part === '') continue;
    const match = /!=|==|=/.exec(part);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const value = unescapeValue(part.slice(match.index + match[0].length));
    const field = part.slice(0, match.index);
    // A term without a field and a value asks for nothing, and is none.
    if (field !== '' || value !== '') terms.push({ field, operator: match[0] === '!=' ? '!=' : '=', value });
  }
  return terms.length === 0 ? everything : fieldSelectorOf(terms);
}
