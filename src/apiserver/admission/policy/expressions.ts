// What the expressions of one policy share: variables, match conditions and what they may cost (k8s.io/apiserver/pkg/admission/plugin/cel,
// composition; .../plugin/webhook/matchconditions).
import type { MatchCondition, ParamKind, Variable } from '#api/admissionregistration/v1';
import {
  AdmissionCompiler,
  type AdmissionExpression,
  budgetWorkUnits,
  CelError,
  type celTypes,
  isProgram,
  ObjectValue,
  type Program,
  type Value,
} from '#cel';
import { Work } from '#regexp';
import { limits } from '../limits.ts';
import type { Input } from './input.ts';

export type Compiled = Program | { problem: string };
export interface Named {
  expression: string;
  program: Compiled;
}

export type Result = { value: Value } | { error: string };
export const errorOf = (result: Result): string | undefined => ('error' in result ? result.error : undefined);

/** All that one evaluation of several expressions may still cost is gone. */
export class BudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** The cost that expressions which are evaluated together may use. */
export class Budget {
  #left: number;
  readonly #work = new Work(budgetWorkUnits);
  constructor(costMax: number) {
    this.#left = costMax;
  }

  /** Throws `CelError`, and `BudgetError` when too much was spent. */
  run(program: Program, variables: ReadonlyMap<string, Value>): Value {
    let spent = 0;
    try {
      return program.evaluate(variables, { work: this.#work, onCost: (cost) => (spent = cost) });
    } finally {
      this.#spend(spent);
    }
  }

  /** The value, or why there is none. Throws `BudgetError`. */
  result({ expression, program }: Named, scope: ReadonlyMap<string, Value>): Result {
    if (!isProgram(program)) return { error: `compilation error: ${program.problem}` };
    try {
      return { value: this.run(program, scope) };
    } catch (error) {
      if (error instanceof CelError) return { error: `expression '${expression}' resulted in error: ${error.message}` };
      throw error;
    }
  }

  #spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new BudgetError();
  }
}

const variablesType: celTypes.ObjectType = { kind: 'object', name: 'kubernetes.variables' };

/** `variables`: each is evaluated when it is first asked for. */
class LazyVariables extends ObjectValue {
  readonly #evaluate: (name: string) => Value | undefined;
  readonly #known = new Map<string, Value | undefined>();
  constructor(evaluate: (name: string) => Value | undefined) {
    super({}, variablesType);
    this.#evaluate = evaluate;
  }
  override get(name: string): Value | undefined {
    if (!this.#known.has(name)) this.#known.set(name, this.#evaluate(name));
    return this.#known.get(name);
  }
}

interface CommonSpec {
  paramKind?: ParamKind;
  variables?: readonly Variable[];
  matchConditions?: readonly MatchCondition[];
}

/** Variables and conditions of a policy, compiled; compiles what else it has. */
export class PolicyExpressions {
  readonly #compiler = new AdmissionCompiler({ hasVariables: true });
  readonly #variables = new Map<string, Compiled>();
  readonly #conditions: readonly Named[];
  readonly #hasParams: boolean;

  constructor({ paramKind, variables = [], matchConditions = [] }: CommonSpec) {
    this.#hasParams = paramKind !== undefined;
    const what = { hasParams: this.#hasParams, hasAuthorizer: true };
    for (const { name, expression } of variables) {
      this.#variables.set(name, this.#compiler.compile(expression, what));
      this.#compiler.declare(name, expression, what);
    }
    this.#conditions = matchConditions.map(({ expression }) => this.compile(expression, { returns: ['bool'] }));
  }

  compile(expression: string, what: Partial<AdmissionExpression>): Named {
    const given = { hasParams: this.#hasParams, hasAuthorizer: true, ...what };
    return { expression, program: this.#compiler.compile(expression, given) };
  }

  /** Names for one round of expressions, with variables of their own. */
  scope(budget: Budget, variables: ReadonlyMap<string, Value>): Map<string, Value> {
    const scope = new Map(variables);
    const evaluate = (name: string): Value | undefined => {
      const program = this.#variables.get(name);
      if (!program) return undefined;
      const say = (how: string, why: string) =>
        new CelError(`composited variable ${JSON.stringify(name)} fails to ${how}: ${why}`);
      if (!isProgram(program)) throw say('compile', program.problem);
      try {
        return budget.run(program, scope);
      } catch (error) {
        throw error instanceof CelError ? say('evaluate', error.message) : error;
      }
    };
    return scope.set('variables', new LazyVariables(evaluate));
  }

  /** Whether the conditions hold, or why that cannot be said. One that does not hold outweighs those that fail. Throws `BudgetError`. */
  matches({ variables, authorizer }: Omit<Input, 'namespace'>): boolean | string {
    if (this.#conditions.length === 0) return true;
    const budget = new Budget(limits.matchConditionsCostMax);
    const scope = this.scope(budget, new Map([...variables, ...authorizer, ['namespaceObject', null]]));
    const results = this.#conditions.map((condition) => budget.result(condition, scope));
    if (results.some((result) => 'value' in result && result.value === false)) return false;
    const errors = [...new Set(results.flatMap((result) => errorOf(result) ?? []))];
    if (errors.length === 0) return true;
    return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
  }
}
