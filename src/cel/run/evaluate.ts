// Runs a checked expression: the tree becomes closures once, every evaluation counts its cost (cel-go interpreter).
import { goTypeName } from '#utils';
import type { Node } from '../syntax/ast.ts';
import type { Checked } from '../check/checker.ts';
import type { Environment, Overload } from '../check/environment.ts';
import { callCostMax } from '../limits.ts';
import {
  keyOf,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  toJson,
  TypeValue,
  typeNameOf,
  Uint,
  type Key,
  type Value,
} from '../values/values.ts';
import { listCost, mapCost, structCost } from './call-costs.ts';
import { foldCosts, foldItems, itemsOf, truth } from './folds.ts';
import { fieldOf, hasField, indexOf, isOf, optionalIndex, optionalSelect } from './select.ts';
import { CelError, CostError } from '../errors.ts';

export class Run {
  readonly variables: Map<string, Value>;
  #left: number;
  /** Cost so far. */
  cost = 0;

  constructor(variables: Map<string, Value>, costMax = callCostMax) {
    this.variables = variables;
    this.#left = costMax;
  }

  spend(cost: number): void {
    this.cost += cost;
    this.#left -= cost;
    if (this.#left < 0) throw new CostError();
  }
}

type Step = (run: Run) => Value;

/** Makes closures of a tree. They fail with `CelError`. */
export function compileNode(node: Node, checked: Checked, environment: Environment): Step {
  const compiler = new Compiler(checked, environment);
  return compiler.compile(node);
}

class Compiler {
  readonly checked: Checked;
  readonly environment: Environment;

  constructor(checked: Checked, environment: Environment) {
    this.checked = checked;
    this.environment = environment;
  }

  compile(node: Node): Step {
    switch (node.kind) {
      case 'literal': {
        const { value, type } = node.value;
        const constant = type === 'uint' ? new Uint(value) : value;
        return () => constant;
      }
      case 'ident':
        return this.#named(this.checked.qualified.get(node) ?? node.name);
      case 'select':
        return this.#select(node);
      case 'call':
        return this.#call(node);
      case 'list':
        return this.#list(node);
      case 'map':
        return this.#map(node);
      case 'struct':
        return this.#struct(node);
      case 'fold':
        return this.#fold(node);
      case 'bind':
        return this.#bind(node);
    }
  }

  #named(name: string): Step {
    const type = this.environment.typeNames.has(name) ? new TypeValue(name) : undefined;
    return (run) => {
      run.spend(1);
      const value = run.variables.get(name);
      if (value !== undefined) return value;
      if (type) return type;
      throw new CelError(`no such attribute(s): ${name}`);
    };
  }

  #select(node: Node & { kind: 'select' }): Step {
    const path = this.checked.qualified.get(node);
    if (path !== undefined) return this.#named(path);
    const operand = this.compile(node.operand);
    const { field, test, optional } = node;
    return (run) => {
      const owner = operand(run);
      if (test) return hasField(owner, field);
      run.spend(1);
      return optional || owner instanceof Optional ? optionalSelect(owner, field) : fieldOf(owner, field);
    };
  }

  #call(node: Node & { kind: 'call' }): Step {
    const isQualified = this.checked.qualified.has(node);
    const args = (node.target && !isQualified ? [node.target, ...node.args] : node.args).map((argument) =>
      this.compile(argument),
    );
    const [first, second, third] = args as [Step, Step, Step];
    switch (node.name) {
      case '_&&_':
        return logical(first, second, false);
      case '_||_':
        return logical(first, second, true);
      case '_?_:_':
        return (run) => (truth(first(run)) ? second(run) : third(run));
      case '_[_]':
        return (run) => {
          const owner = first(run);
          const key = second(run);
          run.spend(1);
          return owner instanceof Optional ? optionalIndex(owner, key) : indexOf(owner, key);
        };
      case '_[?_]':
        return (run) => {
          const owner = first(run);
          const key = second(run);
          run.spend(1);
          return optionalIndex(owner, key);
        };
      default:
        return dispatch(node.name, this.checked.overloads.get(node) ?? [], args);
    }
  }

  #list(node: Node & { kind: 'list' }): Step {
    const items = node.items.map(({ value, optional }) => ({ step: this.compile(value), optional }));
    return (run) => {
      run.spend(listCost);
      const values: Value[] = [];
      for (const { step, optional } of items) {
        const value = step(run);
        if (!optional) values.push(value);
        else if (value instanceof Optional && value.value !== undefined) values.push(value.value);
      }
      return new ListValue(values);
    };
  }

  #map(node: Node & { kind: 'map' }): Step {
    const entries = node.entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }));
    return (run) => {
      run.spend(mapCost);
      const made = new Map<Key, unknown>();
      for (const { key, value, optional } of entries) {
        const name = keyOf(key(run));
        if (name === undefined) throw new CelError('unsupported key type');
        if (made.has(name)) throw new CelError(`Failed with repeated key`);
        const given = value(run);
        if (!optional) made.set(name, given);
        else if (given instanceof Optional && given.value !== undefined) made.set(name, given.value);
      }
      return new MapValue(made);
    };
  }

  #struct(node: Node & { kind: 'struct' }): Step {
    const type = this.environment.struct?.(node.name);
    const fields = node.fields.map(({ name, value, optional }) => ({
      name,
      step: this.compile(value),
      optional,
      wanted: type?.kind === 'object' ? type.field?.(name) : undefined,
    }));
    return (run) => {
      run.spend(structCost);
      const made = new Map<string, Value>();
      for (const { name, step, optional, wanted } of fields) {
        const given = step(run);
        const value = optional && given instanceof Optional ? given.value : given;
        if (value === undefined) continue;
        // What is dynamic was not checked before.
        if (wanted && !isOf(value, wanted))
          throw new CelError(`unexpected type ${goTypeName(toJson(value))} for ${node.name}Type '${name}' field`);
        made.set(name, value);
      }
      return new StructValue(node.name, made);
    };
  }

  #fold(node: Node & { kind: 'fold' }): Step {
    const range = this.compile(node.range);
    const predicate = node.predicate && this.compile(node.predicate);
    const transform = node.transform && this.compile(node.transform);
    const [one = '', two] = node.vars;
    const costs = foldCosts[node.fold];
    return (run) => {
      const items = itemsOf(range(run), two !== undefined);
      const outer = [run.variables.get(one), two === undefined ? undefined : run.variables.get(two)] as const;
      run.spend(costs.once);
      try {
        return foldItems(node.fold, items, ([first, second], body) => {
          if (body === 'transform') {
            run.spend(costs.kept);
            return transform ? transform(run) : first;
          }
          run.spend(costs.item);
          run.variables.set(one, first);
          if (two !== undefined) run.variables.set(two, second);
          return predicate ? predicate(run) : true;
        });
      } finally {
        restore(run, one, outer[0]);
        if (two !== undefined) restore(run, two, outer[1]);
      }
    };
  }

  #bind(node: Node & { kind: 'bind' }): Step {
    const value = this.compile(node.value);
    const body = this.compile(node.body);
    const { name, form } = node;
    return (run) => {
      const given = value(run);
      if (form !== 'bind' && given instanceof Optional && given.value === undefined) return given;
      const outer = run.variables.get(name);
      try {
        run.variables.set(name, form !== 'bind' && given instanceof Optional ? (given.value as Value) : given);
        const result = body(run);
        return form === 'optMap' ? new Optional(result) : result;
      } finally {
        restore(run, name, outer);
      }
    };
  }
}

function restore(run: Run, name: string, value: Value | undefined): void {
  if (value === undefined) run.variables.delete(name);
  else run.variables.set(name, value);
}

/** `&&` and `||`: one side may decide although the other fails. */
function logical(first: Step, second: Step, decisive: boolean): Step {
  return (run) => {
    let failure: CelError | undefined;
    for (const step of [first, second]) {
      try {
        if (truth(step(run)) === decisive) return decisive;
      } catch (error) {
        if (!(error instanceof CelError) || error instanceof CostError) throw error;
        failure ??= error;
      }
    }
    if (failure) throw failure;
    return !decisive;
  };
}

function dispatch(name: string, overloads: readonly Overload[], args: readonly Step[]): Step {
  const [only] = overloads;
  return (run) => {
    const values = args.map((argument) => argument(run));
    const overload =
      overloads.length === 1 && only
        ? only
        : overloads.find(({ params }) => params.every((wanted, index) => isOf(values[index] ?? null, wanted)));
    if (!overload || (overload === only && !overload.params.every((wanted, index) => isOf(values[index] ?? null, wanted)))) {
      throw new CelError(`no such overload: ${name}(${values.map(typeNameOf).join(', ')})`);
    }
    run.spend(overload.cost ? overload.cost(...values) : 1);
    return overload.call(...values);
  };
}
