// Types of expressions, and what does not fit, in the words of upstream's checker (cel-go checker).
import type { Issue, Node } from '../syntax/ast.ts';
import type { Environment, Overload } from './environment.ts';
import { structName } from '../syntax/parser.ts';
import * as types from '../types.ts';
import { assignable, type Bindings, isDyn, type Type, typeText } from '../types.ts';

/** What the checker found out about the tree, for the evaluator. */
export interface Checked {
  type: Type;
  issues: Issue[];
  /** Overloads that fit each call; of more than one, the values decide. */
  overloads: Map<Node, readonly Overload[]>;
  /** Nodes whose names are one variable, function or type with dots: `a.b`. */
  qualified: Map<Node, string>;
  types: Map<Node, Type>;
}

export function check(node: Node, environment: Environment): Checked {
  const checker = new Checker(environment);
  const type = checker.typeOf(node, environment.variables);
  const { issues, overloads, qualified, types: typesOfNodes } = checker;
  return { type, issues, overloads, qualified, types: typesOfNodes };
}

type Scope = ReadonlyMap<string, Type>;

class Checker {
  readonly environment: Environment;
  readonly issues: Issue[] = [];
  readonly overloads = new Map<Node, readonly Overload[]>();
  readonly qualified = new Map<Node, string>();
  readonly types = new Map<Node, Type>();

  constructor(environment: Environment) {
    this.environment = environment;
  }

  typeOf(node: Node, scope: Scope): Type {
    const type = this.#made(node, scope);
    this.types.set(node, type);
    return type;
  }

  #made(node: Node, scope: Scope): Type {
    switch (node.kind) {
      case 'literal':
        return { kind: node.value.type };
      case 'ident':
        return this.#ident(node, node.name, scope);
      case 'select':
        return this.#select(node, scope);
      case 'call':
        return this.#call(node, scope);
      case 'list':
        return types.list(
          this.#common(node.items.map(({ value, optional }) => ({ node: value, type: this.#unwrapped(value, optional, scope) }))),
        );
      case 'map':
        return this.#mapType(node, scope);
      case 'struct':
        return this.#struct(node, scope);
      case 'fold':
        return this.#fold(node, scope);
      case 'bind':
        return this.#bind(node, scope);
    }
  }

  #fail(node: { at: number }, message: string): Type {
    this.issues.push({ at: node.at, message });
    return types.errorType;
  }

  #undeclared(node: { at: number }, name: string): Type {
    return this.#fail(node, `undeclared reference to '${name}' (in container '')`);
  }

  /** The type of a name that may hold dots; undefined when the name is not a type. */
  #named(name: string, scope: Scope): Type | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name;
    return scope.get(plain) ?? (this.environment.typeNames.has(plain) ? types.typeType : undefined);
  }

  #ident(node: Node, name: string, scope: Scope): Type {
    const type = this.#named(name, scope);
    if (type === undefined) return this.#undeclared(node, name);
    this.qualified.set(node, name.startsWith('.') ? name.slice(1) : name);
    return type;
  }

  #select(node: Node & { kind: 'select' }, scope: Scope): Type {
    const path = node.test ? undefined : structName(node);
    const whole = path === undefined ? undefined : this.#named(path, scope);
    if (path !== undefined && whole !== undefined) {
      this.qualified.set(node, path);
      return whole;
    }
    const operand = this.typeOf(node.operand, scope);
    const isOptional = operand.kind === 'opaque' && operand.name === 'optional_type';
    const field = this.#fieldType(node, isOptional ? (operand.params[0] ?? types.dyn) : operand, node.field);
    if (node.test) return types.bool;
    return isOptional || node.optional ? types.optional(field) : field;
  }

  #fieldType(node: { at: number }, owner: Type, name: string): Type {
    if (isDyn(owner)) return owner;
    if (owner.kind === 'map') return owner.of;
    if (owner.kind !== 'object') return this.#fail(node, `type '${typeText(owner)}' does not support field selection`);
    if (!owner.field) return types.dyn;
    return owner.field(name) ?? this.#fail(node, `undefined field '${name}'`);
  }

  #call(node: Node & { kind: 'call' }, scope: Scope): Type {
    const { name, target } = node;
    if (name === '_&&_' || name === '_||_') return this.#logical(node, name, scope);
    if (!target)
      return this.#overload(
        node,
        name,
        false,
        node.args.map((argument) => this.typeOf(argument, scope)),
      );
    const path = structName(target);
    const qualified = path === undefined || scope.has(path) ? undefined : `${path}.${name}`;
    if (qualified !== undefined && this.environment.functions.has(qualified)) {
      this.qualified.set(node, qualified);
      return this.#overload(
        node,
        qualified,
        false,
        node.args.map((argument) => this.typeOf(argument, scope)),
      );
    }
    return this.#overload(
      node,
      name,
      true,
      [target, ...node.args].map((argument) => this.typeOf(argument, scope)),
    );
  }

  /** The type of `&&` and `||`, whose operands are judged each by itself. */
  #logical(node: Node & { kind: 'call' }, name: string, scope: Scope): Type {
    const given = node.args.map((argument) => this.typeOf(argument, scope));
    for (const [index, type] of given.entries())
      if (type.kind !== 'error' && !assignable(type, types.bool, new Map()))
        this.#fail(node.args[index] ?? node, `expected type 'bool' but found '${typeText(type)}'`);
    this.overloads.set(node, this.environment.functions.get(name) ?? []);
    return types.bool;
  }

  #overload(node: Node, name: string, isMember: boolean, given: Type[]): Type {
    const candidates = this.environment.functions.get(name);
    if (!candidates) return this.#undeclared(node, name);
    const fitting: Overload[] = [];
    let result: Type | undefined;
    for (const candidate of candidates) {
      if (candidate.member !== isMember || candidate.params.length !== given.length) continue;
      const bindings: Bindings = new Map();
      if (!candidate.params.every((wanted, index) => assignable(given[index] ?? types.dyn, wanted, bindings))) continue;
      fitting.push(candidate);
      const own = types.substitute(candidate.result, bindings);
      result = result === undefined ? own : typeText(result) === typeText(own) ? result : types.dyn;
    }
    if (result === undefined)
      return given.some(({ kind }) => kind === 'error') ? types.errorType : this.#noOverload(node, name, isMember, given);
    this.overloads.set(node, fitting);
    return result;
  }

  #noOverload(node: { at: number }, name: string, isMember: boolean, given: readonly Type[]): Type {
    const texts = given.map(typeText);
    const shown = isMember ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
    return this.#fail(node, `found no matching overload for '${name}' applied to '${shown}'`);
  }

  /** The one type all items must have. */
  #common(items: readonly { node: Node; type: Type }[]): Type {
    let common: Type | undefined;
    for (const { node, type } of items) {
      if (common === undefined || isDyn(common)) common = type;
      else if (!assignable(type, common, new Map()))
        this.#fail(node, `expected type '${typeText(common)}' but found '${typeText(type)}'`);
      else common = types.join(common, type);
    }
    return common ?? types.free;
  }

  #unwrapped(node: Node, isOptional: boolean, scope: Scope): Type {
    const type = this.typeOf(node, scope);
    if (!isOptional) return type;
    if (type.kind === 'opaque' && type.name === 'optional_type') return type.params[0] ?? types.dyn;
    return isDyn(type)
      ? type
      : this.#fail(node, `expected type 'optional_type(${typeText(type)})' but found '${typeText(type)}'`);
  }

  #mapType(node: Node & { kind: 'map' }, scope: Scope): Type {
    const keys = node.entries.map(({ key }) => ({ node: key, type: this.typeOf(key, scope) }));
    const values = node.entries.map(({ value, optional }) => ({ node: value, type: this.#unwrapped(value, optional, scope) }));
    return types.map(this.#common(keys), this.#common(values));
  }

  #struct(node: Node & { kind: 'struct' }, scope: Scope): Type {
    const type = this.environment.struct?.(node.name);
    if (!type) return this.#undeclared(node, node.name);
    for (const field of node.fields) {
      const wanted = this.#fieldType(field, type, field.name);
      const given = this.#unwrapped(field.value, field.optional, scope);
      if (!assignable(given, wanted, new Map()))
        this.#fail(
          field,
          `expected type of field '${field.name}' is '${typeText(wanted)}' but provided type is '${typeText(given)}'`,
        );
    }
    return type;
  }

  #fold(node: Node & { kind: 'fold' }, scope: Scope): Type {
    const range = this.typeOf(node.range, scope);
    const [first, second] = this.#iterated(node, range);
    const inner = new Map(scope);
    const [one = '', two] = node.vars;
    // Of one variable: the items of a list, the keys of a map.
    inner.set(one, two === undefined ? (range.kind === 'list' ? second : first) : first);
    if (two !== undefined) inner.set(two, second);
    const condition = node.predicate && this.typeOf(node.predicate, inner);
    if (condition && condition.kind !== 'bool' && !isDyn(condition)) this.#badPredicate(node, condition);
    const result = node.transform && this.typeOf(node.transform, inner);
    switch (node.fold) {
      case 'map':
        return types.list(result ?? types.dyn);
      case 'transformMap':
        return types.map(first, result ?? types.dyn);
      case 'filter':
        return types.list(inner.get(one) ?? types.dyn);
      default:
        return types.bool;
    }
  }

  #iterated(node: Node & { kind: 'fold' }, range: Type): [Type, Type] {
    if (range.kind === 'list') return [types.int, range.of];
    if (range.kind === 'map') return [range.key, range.of];
    if (!isDyn(range))
      this.#fail(
        node.range,
        `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    return [types.dyn, types.dyn];
  }

  /** Upstream tells the operator that a macro is made of. */
  #badPredicate({ fold, predicate, at }: Node & { kind: 'fold' }, condition: Type): void {
    const text = typeText(condition);
    const operator = fold === 'all' ? '_&&_' : fold === 'exists' ? '_||_' : '_?_:_';
    const applied =
      fold === 'all' || fold === 'exists'
        ? `(bool, ${text})`
        : `(${text}, ${fold === 'exists_one' ? 'int, int' : 'list(dyn), list(dyn)'})`;
    this.#fail({ at: predicate?.at ?? at }, `found no matching overload for '${operator}' applied to '${applied}'`);
  }

  #bind(node: Node & { kind: 'bind' }, scope: Scope): Type {
    const value = this.typeOf(node.value, scope);
    const inner = new Map(scope);
    const isOptional = value.kind === 'opaque' && value.name === 'optional_type';
    if (node.form !== 'bind' && !isOptional && !isDyn(value)) return this.#noOverload(node, node.form, true, [value, types.dyn]);
    inner.set(node.name, node.form === 'bind' ? value : isOptional ? (value.params[0] ?? types.dyn) : types.dyn);
    const body = this.typeOf(node.body, inner);
    return node.form === 'optMap' ? types.optional(body) : body;
  }
}
