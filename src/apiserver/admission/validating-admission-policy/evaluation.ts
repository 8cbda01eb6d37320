// Programs of one policy and what they say (k8s.io/apiserver/pkg/admission/plugin/cel, .../policy/validating).
import type { MatchCondition, ValidatingAdmissionPolicySpec, Validation } from '#api/admissionregistration/v1';
import {
  AdmissionCompiler,
  budgetCostMax,
  callCostMax,
  CelError,
  type celTypes,
  CostError,
  isProgram,
  ObjectValue,
  type Program,
  type Value,
} from '#cel';
import { limits } from '../limits.ts';

/** What expressions see; the authorizer only where they may ask it. */
export interface Input {
  variables: ReadonlyMap<string, Value>;
  /** `authorizer` and `authorizer.requestResource`. */
  authorizer: ReadonlyMap<string, Value>;
  namespace: Value;
}

export interface Denial {
  message: string;
  reason: string;
}

type Compiled = Program | { problem: string };
interface Named {
  expression: string;
  program: Compiled;
}

/** All that one evaluation of several expressions may still cost is gone. */
class BudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Cost that expressions share. */
class Budget {
  #left: number;
  constructor(costMax: number) {
    this.#left = costMax;
  }
  run(program: Program, variables: ReadonlyMap<string, Value>): Value {
    try {
      const { value, cost } = program.evaluate(variables, callCostMax);
      this.#spend(cost);
      return value;
    } catch (error) {
      if (error instanceof CostError) this.#spend(callCostMax);
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

type Result = { value: Value } | { error: string };
const errorOf = (result: Result): string | undefined => ('error' in result ? result.error : undefined);

/** The expressions of a policy, compiled. */
export class CompiledPolicy {
  readonly #spec: ValidatingAdmissionPolicySpec;
  readonly #variables = new Map<string, Compiled>();
  readonly #conditions: readonly Named[];
  readonly #validations: readonly (Named & { validation: Validation; message: Compiled | undefined })[];
  readonly #annotations: readonly Named[];

  constructor(spec: ValidatingAdmissionPolicySpec) {
    this.#spec = spec;
    const compiler = new AdmissionCompiler();
    const what = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true };
    for (const { name, expression } of spec.variables ?? []) {
      this.#variables.set(name, compiler.compile(expression, what));
      compiler.declare(name, expression, what);
    }
    const named = (expression: string, returns: readonly string[]): Named => ({
      expression,
      program: compiler.compile(expression, { ...what, returns }),
    });
    this.#conditions = (spec.matchConditions ?? []).map(({ expression }: MatchCondition) => named(expression, ['bool']));
    this.#validations = (spec.validations ?? []).map((validation) => ({
      ...named(validation.expression, ['bool']),
      validation,
      message: validation.messageExpression
        ? compiler.compile(validation.messageExpression, { ...what, hasAuthorizer: false, returns: ['string'] })
        : undefined,
    }));
    this.#annotations = (spec.auditAnnotations ?? []).map(({ valueExpression }) =>
      named(valueExpression, ['string', 'null_type']),
    );
  }

  /** What is wrong with the request. Throws `PendingAnswer` where an authorizer needs time. */
  evaluate(input: Input): { validations: Denial[]; annotations: Denial[] } {
    const failOpen = this.#spec.failurePolicy === 'Ignore';
    const asDenial = (message: string): Denial[] => (failOpen ? [] : [{ message, reason: 'Invalid' }]);
    try {
      const matches = this.#matches(input);
      if (matches !== true) return { validations: matches ? asDenial(matches) : [], annotations: [] };
      return { validations: this.#validate(input, asDenial), annotations: this.#annotate(input, asDenial) };
    } catch (error) {
      if (error instanceof BudgetError) return { validations: asDenial(error.message), annotations: [] };
      throw error;
    }
  }

  /** Names for one round of expressions, with variables of their own. */
  #scope(budget: Budget, variables: ReadonlyMap<string, Value>): Map<string, Value> {
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

  /** Whether the conditions hold, or why that cannot be said. One that does not hold outweighs those that fail. */
  #matches({ variables, authorizer }: Input): boolean | string {
    if (this.#conditions.length === 0) return true;
    const budget = new Budget(limits.matchConditionsCostMax);
    const scope = this.#scope(budget, new Map([...variables, ...authorizer, ['namespaceObject', null]]));
    const results = this.#conditions.map((condition) => run(budget, condition, scope));
    if (results.some((result) => 'value' in result && result.value === false)) return false;
    const errors = [...new Set(results.flatMap((result) => errorOf(result) ?? []))];
    if (errors.length === 0) return true;
    return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
  }

  #validate({ variables, authorizer, namespace }: Input, asDenial: (message: string) => Denial[]): Denial[] {
    const budget = new Budget(budgetCostMax);
    const common = new Map([...variables, ['namespaceObject', namespace] as const]);
    const scope = this.#scope(budget, new Map([...common, ...authorizer]));
    const results = this.#validations.map((one) => run(budget, one, scope));
    const messageScope = this.#scope(budget, common);
    return this.#validations.flatMap(({ validation, message }, index) => {
      const result = results[index] as Result;
      if ('error' in result) return asDenial(result.error);
      if (result.value === true) return [];
      try {
        return [{ message: messageOf(validation, message, budget, messageScope), reason: validation.reason ?? 'Invalid' }];
      } catch (error) {
        if (error instanceof BudgetError) return asDenial(`failed messageExpression: ${error.message}`);
        throw error;
      }
    });
  }

  /** Annotations that have no value are refusals too. */
  #annotate({ variables, authorizer, namespace }: Input, asDenial: (message: string) => Denial[]): Denial[] {
    if (this.#annotations.length === 0) return [];
    const budget = new Budget(budgetCostMax);
    const scope = this.#scope(budget, new Map([...variables, ...authorizer, ['namespaceObject', namespace]]));
    return this.#annotations.flatMap((annotation) => {
      const error = errorOf(run(budget, annotation, scope));
      return error === undefined ? [] : asDenial(error);
    });
  }
}

function run(budget: Budget, { expression, program }: Named, scope: ReadonlyMap<string, Value>): Result {
  if (!isProgram(program)) return { error: `compilation error: ${program.problem}` };
  try {
    return { value: budget.run(program, scope) };
  } catch (error) {
    if (error instanceof CelError) return { error: `expression '${expression}' resulted in error: ${error.message}` };
    throw error;
  }
}

/** The message of the expression where it gives a good one, else the fixed one, else the expression that failed. */
function messageOf(
  { message = '', expression }: Validation,
  program: Compiled | undefined,
  budget: Budget,
  scope: ReadonlyMap<string, Value>,
): string {
  const result = program && run(budget, { expression: '', program }, scope);
  const given = result && 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
  const usable = Buffer.byteLength(given) <= limits.messageExpressionBytesMax && !given.includes('\n');
  return (usable && given) || message.trim() || `failed expression: ${expression.trim()}`;
}
