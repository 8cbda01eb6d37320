// Programs of one validating policy and what they say (k8s.io/apiserver/pkg/admission/plugin/policy/validating, validator).
import type { ValidatingAdmissionPolicySpec, Validation } from '#api/admissionregistration/v1';
import { budgetCostMax, type Value } from '#cel';
import { limits } from '../../limits.ts';
import { Budget, BudgetError, errorOf, type Named, PolicyExpressions } from '../../policy/expressions.ts';
import type { Input } from '../../policy/input.ts';

export interface Denial {
  message: string;
  reason: string;
  /** The place of the validation in its policy. */
  index?: number;
}

/** What goes into the audit log under the policy's name. */
export interface Annotation {
  key: string;
  value: string;
}

interface Evaluation {
  validations: Denial[];
  /** Annotations that have no value are refusals too. */
  annotations: Denial[];
  published: Annotation[];
}

/** The expressions of a policy, compiled. */
export class CompiledPolicy {
  readonly #failOpen: boolean;
  readonly #expressions: PolicyExpressions;
  readonly #validations: readonly (Named & { validation: Validation; message: Named | undefined })[];
  readonly #annotations: readonly (Named & { key: string })[];

  constructor(spec: ValidatingAdmissionPolicySpec) {
    this.#failOpen = spec.failurePolicy === 'Ignore';
    const expressions = new PolicyExpressions(spec);
    this.#expressions = expressions;
    this.#validations = (spec.validations ?? []).map((validation) => ({
      ...expressions.compile(validation.expression, { returns: ['bool'] }),
      validation,
      message: validation.messageExpression
        ? expressions.compile(validation.messageExpression, { hasAuthorizer: false, returns: ['string'] })
        : undefined,
    }));
    this.#annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      ...expressions.compile(valueExpression, { returns: ['string', 'null_type'] }),
      key,
    }));
  }

  /** What is wrong with the request. Throws `PendingAnswer` where an authorizer needs time. */
  evaluate(input: Input): Evaluation {
    const alone = (validations: Denial[]): Evaluation => ({ validations, annotations: [], published: [] });
    const asDenial = (message: string): Denial[] => (this.#failOpen ? [] : [{ message, reason: 'Invalid' }]);
    try {
      const matches = this.#expressions.matches(input);
      if (matches !== true) return alone(matches ? asDenial(matches) : []);
      return { validations: this.#validate(input, asDenial), ...this.#annotate(input, asDenial) };
    } catch (error) {
      if (error instanceof BudgetError) return alone(asDenial(error.message));
      throw error;
    }
  }

  #validate({ variables, authorizer, namespace }: Input, asDenial: (message: string) => Denial[]): Denial[] {
    const budget = new Budget(budgetCostMax);
    const common = new Map([...variables, ['namespaceObject', namespace] as const]);
    const scope = this.#expressions.scope(budget, new Map([...common, ...authorizer]));
    const results = this.#validations.map((one) => ({ ...one, result: budget.result(one, scope) }));
    const messageScope = this.#expressions.scope(budget, common);
    const denialsOf = ({ validation, message, result }: (typeof results)[number]): Denial[] => {
      if ('error' in result) return asDenial(result.error);
      if (result.value === true) return [];
      try {
        return [{ message: messageOf(validation, message, budget, messageScope), reason: validation.reason ?? 'Invalid' }];
      } catch (error) {
        if (error instanceof BudgetError) return asDenial(`failed messageExpression: ${error.message}`);
        throw error;
      }
    };
    return results.flatMap((one, index) => denialsOf(one).map((denial) => ({ ...denial, index })));
  }

  #annotate(
    { variables, authorizer, namespace }: Input,
    asDenial: (message: string) => Denial[],
  ): Pick<Evaluation, 'annotations' | 'published'> {
    if (this.#annotations.length === 0) return { annotations: [], published: [] };
    const budget = new Budget(budgetCostMax);
    const scope = this.#expressions.scope(budget, new Map([...variables, ...authorizer, ['namespaceObject', namespace]]));
    const results = this.#annotations.map((annotation) => ({ key: annotation.key, result: budget.result(annotation, scope) }));
    return {
      annotations: results.flatMap(({ result }) => {
        const error = errorOf(result);
        return error === undefined ? [] : asDenial(error);
      }),
      published: results.flatMap(({ key, result }) => {
        const value = 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
        return value === '' ? [] : [{ key, value: value.slice(0, limits.auditAnnotationLengthMax) }];
      }),
    };
  }
}

/** The message of the expression where it gives a good one, else the fixed one, else the expression that failed. */
function messageOf(
  { message = '', expression }: Validation,
  program: Named | undefined,
  budget: Budget,
  scope: ReadonlyMap<string, Value>,
): string {
  const result = program && budget.result(program, scope);
  const given = result && 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
  const usable = Buffer.byteLength(given) <= limits.messageExpressionBytesMax && !given.includes('\n');
  return (usable && given) || message.trim() || `failed expression: ${expression.trim()}`;
}
