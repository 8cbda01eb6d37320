// Expressions as trees (https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax); macros are taken apart in macros.ts.
import type { Work } from '#regexp';
import { type Issue, type Node, nowhere, partsOf } from './ast.ts';
import { depthMax, expressionPointsMax, tokenWorkUnits } from '../limits.ts';
import { type Token, tokenize } from './lexer.ts';
import { expandMacro } from './macros.ts';

const primaries =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** What an operand may begin with, beside literals and names. */
const beginnings: ReadonlySet<string> = new Set(['[', '{', '(', '.', '-', '!']);
const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const intMin = -(2n ** 63n);

/** From loose to tight; every level is left-associative. */
const levels: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];
const operatorNames: Record<string, string> = { in: '@in' };

/** A tree, or why there is none. `bindings`: the macro `cel.bind` is known. `work`: pays for all that compiling it will take. */
export function parse(
  source: string,
  bindings = false,
  work?: Work,
): { node: Node; issues: [] } | { node?: undefined; issues: Issue[] } {
  const points = source.length > expressionPointsMax ? Array.from(source).length : 0;
  if (points > expressionPointsMax) {
    const message = `expression code point size exceeds limit: size: ${points}, limit ${expressionPointsMax}`;
    return { issues: [{ at: nowhere, message }] };
  }
  const { tokens, issues } = tokenize(source);
  work?.spend(tokens.length * tokenWorkUnits);
  const parser = new Parser(tokens, issues, bindings);
  const node = parser.whole();
  return node === undefined || issues.length > 0 ? { issues } : { node, issues: [] };
}

/** The text is no expression; what is wrong has been noted. */
class Stop extends Error {}

class Parser {
  readonly tokens: readonly Token[];
  readonly issues: Issue[];
  readonly #bindings: boolean;
  #next = 0;
  /** Where the arguments of the innermost call begin: there it may end as well. */
  #firstArgument = -1;
  #depth = 0;
  readonly #depths = new Map<Node, number>();

  constructor(tokens: readonly Token[], issues: Issue[], bindings: boolean) {
    this.#bindings = bindings;
    this.tokens = tokens;
    this.issues = issues;
  }

  whole(): Node | undefined {
    try {
      const node = this.#expression();
      if (this.#peek().kind === 'end') return node;
      const isLast = this.tokens[this.#next + 1]?.kind === 'end';
      this.#fail(`Syntax error: ${isLast ? 'extraneous' : 'mismatched'} input '${this.#peek().text}' expecting <EOF>`);
    } catch (error) {
      if (error instanceof Stop) return undefined;
      throw error;
    }
  }

  #peek(): Token {
    return this.tokens[this.#next] as Token;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  #is(text: string): boolean {
    const token = this.#peek();
    return token.kind === 'punctuation' && token.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #expect(text: string): Token {
    const token = this.#accept(text);
    if (token) return token;
    const { text: got } = this.#peek();
    return this.#fail(`Syntax error: missing '${text}' at '${got}'`);
  }

  #fail(message: string, at = this.#peek().at): never {
    this.issues.push({ at, message });
    throw new Stop(message);
  }

  #expression(): Node {
    if (++this.#depth > depthMax) this.#fail(`expression recursion limit exceeded: ${depthMax}`, nowhere);
    const node = this.#conditional();
    this.#depth--;
    return node;
  }

  #conditional(): Node {
    const condition = this.#chain('||', () => this.#chain('&&', () => this.#binary(0)));
    const mark = this.#accept('?');
    if (!mark) return condition;
    const yes = this.#chain('||', () => this.#chain('&&', () => this.#binary(0)));
    this.#expect(':');
    return this.#deepened({ kind: 'call', at: mark.at, name: '_?_:_', args: [condition, yes, this.#expression()] });
  }

  /** Operands of `&&` or `||`, as a tree whose depth grows with the logarithm of their number. */
  #chain(operator: string, operand: () => Node): Node {
    const operands = [operand()];
    const places: number[] = [];
    for (let token = this.#accept(operator); token; token = this.#accept(operator)) {
      places.push(token.at);
      operands.push(operand());
    }
    const tree = (from: number, to: number): Node => {
      if (from > to) return operands[from] as Node;
      const middle = (from + to + 1) >> 1;
      const args = [tree(from, middle - 1), tree(middle + 1, to)];
      return this.#measured({ kind: 'call', at: places[middle] ?? 0, name: `_${operator}_`, args }, args);
    };
    return tree(0, places.length - 1);
  }

  /** Notes how deep a node is; those that upstream's parser visits by recursion count. */
  #measured(node: Node, parts: readonly Node[], own = 0): Node {
    let depth = 0;
    for (const part of parts) depth = Math.max(depth, this.#depths.get(part) ?? 0);
    depth += own;
    if (depth > depthMax) this.#fail('max recursion depth exceeded', nowhere);
    if (depth > 0) this.#depths.set(node, depth);
    return node;
  }

  #made(node: Node): Node {
    return this.#measured(node, partsOf(node));
  }

  #deepened<N extends Node>(node: N): N {
    this.#measured(node, partsOf(node), 1);
    return node;
  }

  #binary(level: number): Node {
    const operators = levels[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const token = this.#peek();
      if (token.kind !== 'punctuation' || !operators.includes(token.text)) return left;
      this.#take();
      const name = operatorNames[token.text] ?? `_${token.text}_`;
      left = this.#deepened({ kind: 'call', at: token.at, name, args: [left, this.#binary(level + 1)] });
    }
  }

  #unary(): Node {
    const token = this.#accept('!') ?? this.#accept('-');
    if (!token) return this.#member();
    let count = 1;
    while (this.#accept(token.text)) count++;
    const literal = this.#peek().literal;
    if (token.text === '-' && count === 1 && literal && (literal.type === 'int' || literal.type === 'double'))
      return this.#negative(token.at);
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#measured({ kind: 'call', at: token.at, name: token.text === '!' ? '!_' : '-_', args: [operand] }, [operand]);
  }

  #negative(at: number): Node {
    const { literal } = this.#take();
    const value =
      literal?.type === 'int'
        ? { type: 'int' as const, value: -literal.value }
        : { type: 'double' as const, value: -Number(literal?.value) };
    if (typeof value.value === 'bigint' && value.value < intMin) this.#fail('invalid int literal', at);
    return this.#suffixes({ kind: 'literal', at, value } as Node);
  }

  #member(): Node {
    return this.#suffixes(this.#primary());
  }

  #suffixes(start: Node): Node {
    let node = start;
    for (;;) {
      const dot = this.#accept('.');
      if (dot) node = this.#selection(node, dot.at);
      else if (this.#is('[')) node = this.#index(node, this.#take().at);
      else if (this.#is('{') && structName(node) !== undefined) node = this.#struct(structName(node) ?? '', this.#take().at);
      else return node;
    }
  }

  #selection(operand: Node, dot: number): Node {
    const isOptional = this.#accept('?') !== undefined;
    const token = this.#peek();
    if (token.kind !== 'ident' && token.kind !== 'quotedIdent')
      this.#fail(`Syntax error: no viable alternative at input '.${token.kind === 'end' ? '' : token.text}'`);
    this.#take();
    const open = isOptional || token.kind === 'quotedIdent' ? undefined : this.#accept('(');
    if (!open) return this.#deepened({ kind: 'select', at: dot, operand, field: token.text, test: false, optional: isOptional });
    const args = this.#list(')');
    return this.#measured(this.#callOrMacro(token.text, open.at, args, operand), [operand, ...args], 1);
  }

  #index(operand: Node, at: number): Node {
    const isOptional = this.#accept('?') !== undefined;
    const key = this.#expression();
    this.#expect(']');
    return this.#deepened({ kind: 'call', at, name: isOptional ? '_[?_]' : '_[_]', args: [operand, key] });
  }

  #callOrMacro(name: string, at: number, args: Node[], target?: Node): Node {
    const expanded = name === 'bind' && !this.#bindings ? undefined : expandMacro(name, at, args, target);
    if (expanded && 'message' in expanded) this.issues.push(expanded);
    if (expanded && 'kind' in expanded) return expanded;
    return { kind: 'call', at, name, args, ...(target && { target }) };
  }

  #list(close: string): Node[] {
    const items: Node[] = [];
    if (this.#accept(close)) return items;
    this.#firstArgument = this.#next;
    do {
      if (close === ']' && this.#is(close)) break;
      items.push(this.#expression());
    } while (this.#accept(','));
    this.#expect(close);
    return items;
  }

  #primary(): Node {
    const token = this.#peek();
    if (token.kind === 'literal' && token.literal) {
      this.#take();
      if (token.literal.type === 'int' && token.literal.value >= -intMin) this.#fail('invalid int literal', token.at);
      return { kind: 'literal', at: token.at, value: token.literal };
    }
    if (token.kind === 'ident') return this.#identifier();
    if (this.#accept('.')) {
      const name = this.#identifier();
      return name.kind === 'ident' ? { ...name, name: `.${name.name}` } : name;
    }
    if (this.#accept('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('[')) return this.#listLiteral(token.at);
    if (this.#accept('{')) return this.#mapLiteral(token.at);
    // One token that is too many is named as such where the next could stand in its place.
    const next = this.tokens[this.#next + 1];
    const isExtra = next !== undefined && (['literal', 'ident'].includes(next.kind) || beginnings.has(next.text));
    const wanted = this.#firstArgument === this.#next ? primaries.replace("'(', ", "'(', ')', ") : primaries;
    return this.#fail(`Syntax error: ${isExtra ? 'extraneous' : 'mismatched'} input '${token.text}' expecting ${wanted}`);
  }

  #identifier(): Node {
    const token = this.#take();
    if (token.kind !== 'ident') this.#fail(`Syntax error: mismatched input '${token.text}' expecting IDENTIFIER`, token.at);
    if (reserved.has(token.text)) this.issues.push({ at: token.at, message: `reserved identifier: ${token.text}` });
    const open = this.#accept('(');
    if (!open) return { kind: 'ident', at: token.at, name: token.text };
    const args = this.#list(')');
    return this.#measured(this.#callOrMacro(token.text, open.at, args), args);
  }

  #listLiteral(at: number): Node {
    const items: { value: Node; optional: boolean }[] = [];
    while (!this.#is(']')) {
      const isOptional = this.#accept('?') !== undefined;
      items.push({ value: this.#expression(), optional: isOptional });
      if (!this.#accept(',')) break;
    }
    this.#expect(']');
    return this.#made({ kind: 'list', at, items });
  }

  #mapLiteral(at: number): Node {
    const entries: { key: Node; value: Node; optional: boolean }[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#accept('?') !== undefined;
      const key = this.#expression();
      this.#expect(':');
      entries.push({ key, value: this.#expression(), optional: isOptional });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return this.#made({ kind: 'map', at, entries });
  }

  #struct(name: string, at: number): Node {
    const fields: { name: string; at: number; value: Node; optional: boolean }[] = [];
    while (!this.#is('}')) {
      const isOptional = this.#accept('?') !== undefined;
      const token = this.#take();
      if (token.kind !== 'ident' && token.kind !== 'quotedIdent')
        this.#fail(
          `Syntax error: mismatched input '${token.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
          token.at,
        );
      const colon = this.#expect(':');
      fields.push({ name: token.text, at: colon.at, value: this.#expression(), optional: isOptional });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return this.#made({ kind: 'struct', at, name, fields });
  }
}

/** The name `a.b.c` that a node consists of; undefined where it is anything else. */
export function structName(node: Node): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select' || node.test || node.optional) return undefined;
  const head = structName(node.operand);
  return head === undefined ? undefined : `${head}.${node.field}`;
}
