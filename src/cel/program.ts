// From the text of an expression to something that runs: parse, check, compile (cel-go, Env.Compile and Env.Program).
import type { Work } from '#regexp';
import { issuesText } from './syntax/ast.ts';
import { check } from './check/checker.ts';
import { type Environment, type Functions, functionTable } from './check/environment.ts';
import { estimateCost, type VariableSizes } from './cost/estimate.ts';
import { compileNode, Run } from './run/evaluate.ts';
import { authorizerFunctions } from './library/authorizer.ts';
import { collectionFunctions } from './library/collections.ts';
import { kubernetesFunctions } from './library/kubernetes.ts';
import { netFunctions } from './library/net.ts';
import { stringFunctions } from './library/strings.ts';
import { callCostMax } from './limits.ts';
import { literalIssues } from './check/literals.ts';
import { metered } from './meter.ts';
import { parse } from './syntax/parser.ts';
import { standardFunctions, standardTypeNames } from './library/standard.ts';
import { declaredText, type Type } from './types.ts';
import type { Value } from './values/values.ts';

/** The functions of every Kubernetes environment. */
export const baseFunctions: Functions = functionTable(
  standardFunctions,
  stringFunctions,
  collectionFunctions,
  netFunctions,
  kubernetesFunctions,
  authorizerFunctions,
);

const typeNames = new Set(standardTypeNames);

export const environmentOf = (variables: Iterable<readonly [string, Type]>, more: Partial<Environment> = {}): Environment => ({
  functions: baseFunctions,
  variables: new Map(variables),
  typeNames,
  ...more,
});

export interface EvaluationLimits {
  costMax?: number;
  work?: Work;
  onCost?(cost: number): void;
}

export interface Program {
  type: Type;
  /** The value; failures are `CelError`. `onCost` is called with what it took, whether it fails or not; `work` bounds what is done in truth. */
  evaluate(variables: ReadonlyMap<string, Value>, limits?: EvaluationLimits): Value;
  /** What it costs at most for variables of these sizes; Infinity: there is no bound. */
  costMax(sizes: VariableSizes): number;
  /** Whether the expression names this variable. */
  uses(name: string): boolean;
}

/**
 * A program, or upstream's text of what is wrong. `returns`: types the value may have, in upstream's spelling; [] for any. `work`: compiling ends with
 * `WorkError` when it is used up.
 */
export function compile(
  source: string,
  environment: Environment,
  returns: readonly string[] = [],
  work?: Work,
): Program | { problem: string } {
  const { node, issues } = parse(source, environment.bindings, work);
  if (!node) return { problem: `compilation failed: ${issuesText(source, issues)}` };
  const checked = check(node, environment);
  if (checked.issues.length === 0) checked.issues.push(...literalIssues(node));
  if (checked.issues.length > 0) return { problem: `compilation failed: ${issuesText(source, checked.issues)}` };
  const { type } = checked;
  if (returns.length > 0 && !returns.includes(declaredText(type))) {
    const wanted = returns.length === 1 ? returns[0] : `one of [${returns.join(' ')}]`;
    return { problem: `must evaluate to ${wanted} but got ${declaredText(type)}` };
  }
  const step = compileNode(node, checked, environment);
  const names = new Set(checked.qualified.values());
  return {
    type,
    evaluate(variables, { costMax = callCostMax, work, onCost } = {}) {
      const run = new Run(new Map(variables), costMax);
      try {
        return metered(work, () => step(run));
      } finally {
        onCost?.(run.cost);
      }
    },
    costMax: (sizes) => estimateCost(node, checked, sizes),
    uses: (name) => names.has(name),
  };
}

export const isProgram = (compiled: Program | { problem: string }): compiled is Program => 'evaluate' in compiled;
