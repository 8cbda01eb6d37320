// The text form of label selectors (k8s.io/apimachinery/pkg/labels, Parse). Grammar:
//   selector := requirement {',' requirement};  requirement := ['!'] key | key op value | key ('in'|'notin') '(' values ')'
// What it refuses, and with which words, is upstream's: clients show them.
import { badRequest, StatusError } from '../errors/index.ts';
import { errorText } from '../field/index.ts';
import { binaryOperators, keyProblem, type Operator, type Requirement, requirement } from './requirement.ts';

type TokenKind = 'end' | 'error' | 'identifier' | ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(';
interface Token {
  kind: TokenKind;
  text: string;
}

const symbols = new Set<string>([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const operatorOf: Partial<Record<TokenKind, Operator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};
const special = /[=!(),><]/;
const stop = /[=!(),>< \t\r\n\0]/;
const space = /[ \t\r\n]/;

// Longest known symbol first; a run of symbols is cut where it stops being one.
function symbolAt(text: string, at: number): string {
  const two = text.slice(at, at + 2);
  if (symbols.has(two)) return two;
  return text.charAt(at);
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && space.test(text.charAt(at))) at++;
    if (at >= text.length || text.charAt(at) === '\0') break;
    if (special.test(text.charAt(at))) {
      const symbol = symbolAt(text, at);
      tokens.push({ kind: symbol as TokenKind, text: symbol });
      at += symbol.length;
      continue;
    }
    const start = at;
    while (at < text.length && !stop.test(text.charAt(at))) at++;
    if (at === start) at++;
    const word = text.slice(start, at);
    tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class Parser {
  readonly #tokens: Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** Outside the place of an operator, `in` and `notin` are words like others. */
  #look(operatorPlace = false): Token {
    const token = this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { kind: 'end', text: '' };
    return !operatorPlace && (token.kind === 'in' || token.kind === 'notin') ? { kind: 'identifier', text: token.text } : token;
  }

  #take(operatorPlace = false): Token {
    const token = this.#look(operatorPlace);
    this.#at++;
    return token;
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const first = this.#look();
      if (first.kind === 'end') return requirements;
      if (first.kind !== 'identifier' && first.kind !== '!') {
        throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirementOrWrapped());
      const after = this.#take();
      if (after.kind === 'end') return requirements;
      if (after.kind !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
      const next = this.#look();
      if (next.kind !== 'identifier' && next.kind !== '!')
        throw badRequest(`found '${next.text}', expected: identifier after ','`);
    }
  }

  #requirementOrWrapped(): Requirement {
    try {
      return this.#requirement();
    } catch (error) {
      if (error instanceof StatusError) throw badRequest(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #requirement(): Requirement {
    let token = this.#take();
    const absent = token.kind === '!';
    if (absent) token = this.#take();
    if (token.kind !== 'identifier') throw badRequest(`found '${token.text}', expected: identifier`);
    const bad = keyProblem(token.text);
    if (bad !== undefined) throw badRequest(errorText(bad));
    if (absent) return requirement(token.text, '!', []);
    const next = this.#look();
    if (next.kind === 'end' || next.kind === ',') return requirement(token.text, 'exists', []);
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()];
    return requirement(token.text, operator, [...new Set(values)].sort());
  }

  #operator(): Operator {
    const token = this.#take(true);
    const operator = operatorOf[token.kind];
    if (operator === undefined) throw badRequest(`found '${token.text}', expected: ${binaryOperators.join(', ')}`);
    return operator;
  }

  #exactValue(): string {
    const next = this.#look();
    if (next.kind === 'end' || next.kind === ',') return '';
    const token = this.#take();
    if (token.kind !== 'identifier') throw badRequest(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw badRequest(`found '${open.text}' expected: '('`);
    const first = this.#look();
    if (first.kind === ')') {
      this.#take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',')
      throw badRequest(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#list();
    const close = this.#take();
    if (close.kind !== ')') throw badRequest(`found '${first.text}', expected: ')'`);
    return values;
  }

  // Empty places in the list ("(a,,b)", "(,a)", "(a,)") each stand for the empty value.
  #list(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      const next = this.#look();
      if (token.kind === 'identifier') {
        values.push(token.text);
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw badRequest(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        if (next.kind === ')' || next.kind === ',') values.push('');
        if (next.kind === ')') return values;
      } else {
        throw badRequest(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }
}

/** The requirements of a selector text, in its order. Throws a 400 StatusError. */
export const parseRequirements = (text: string): Requirement[] => new Parser(text).parse();
