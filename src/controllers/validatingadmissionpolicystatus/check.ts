// What is wrong with the expressions of a policy for the kinds that it is about (k8s.io/apiserver/pkg/admission/plugin/policy/validating,
// typechecking.go). They run without types all the same, so it is a warning. Pure.
import type { ExpressionWarning, ValidatingAdmissionPolicySpec } from '#api/admissionregistration/v1';
import { AdmissionCompiler, type Type } from '#cel';
import { type GroupVersionKind, kindText } from './kinds.ts';

export interface CheckedKind {
  kind: GroupVersionKind;
  type: Type;
}

/** Checks one validation after the other, so that others may have a turn in between. */
export class TypeChecker {
  readonly #spec: ValidatingAdmissionPolicySpec;
  readonly #compilers: { kind: GroupVersionKind; compiler: AdmissionCompiler }[];
  readonly #sees: { hasParams: boolean; hasAuthorizer: boolean };

  /** `params`: the type of the objects with parameters, where it is known. */
  constructor(spec: ValidatingAdmissionPolicySpec, kinds: readonly CheckedKind[], params: Type | undefined) {
    this.#spec = spec;
    this.#sees = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true };
    this.#compilers = kinds.map(({ kind, type }) => {
      const compiler = new AdmissionCompiler({ hasVariables: true, object: type, ...(params && { params }) });
      for (const { name, expression } of spec.variables ?? []) compiler.declare(name, expression, this.#sees);
      return { kind, compiler };
    });
  }
  /** The warnings of the validation at `index`. */
  warningsOf(index: number): ExpressionWarning[] {
    const { expression, messageExpression } = this.#spec.validations?.[index] ?? {};
    const path = `spec.validations[${index}]`;
    return [...this.#check(`${path}.expression`, expression), ...this.#check(`${path}.messageExpression`, messageExpression)];
  }
  #check(fieldRef: string, expression: string | undefined): ExpressionWarning[] {
    if (!expression) return [];
    const texts = this.#compilers.flatMap(({ kind, compiler }) => {
      const problem = compiler.problemOf(expression, this.#sees);
      return problem === undefined ? [] : [`${kindText(kind)}: ${problem}\n`];
    });
    return texts.length > 0 ? [{ fieldRef, warning: texts.join('\n') }] : [];
  }
}
