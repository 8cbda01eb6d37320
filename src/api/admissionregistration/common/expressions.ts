// CEL in policies and webhooks: what is compiled, what it may see and what it must give (pkg/apis/admissionregistration/validation).
import type * as admission from '#api/admissionregistration/v1';
import type { Path } from '#apimachinery/field';
import { isQualifiedName } from '#apimachinery/validation';
import { AdmissionCompiler, type AdmissionExpression } from '#cel';
import { repeats } from '#utils';
import { isEmpty, type Report } from '../../common/report.ts';

const conditionsMax = 64;
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

export const isCELIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);

/** Reports why an expression does not compile or gives something else. */
export function validateExpression(
  report: Report,
  path: Path,
  compiler: AdmissionCompiler,
  expression: string,
  what: AdmissionExpression,
): void {
  const problem = compiler.problemOf(expression, what);
  if (problem !== undefined) report.invalid(path, expression, problem);
}

export function validateMatchConditions(
  report: Report,
  path: Path,
  conditions: admission.MatchCondition[] | undefined,
  hasParams: boolean,
): void {
  if (!conditions || conditions.length === 0) return;
  if (conditions.length > conditionsMax) report.tooMany(path, conditions.length, conditionsMax);
  const isRepeat = repeats();
  const compiler = new AdmissionCompiler({ hasVariables: false });
  conditions.forEach(({ name = '', expression = '' }: Partial<admission.MatchCondition>, index) => {
    const at = path.index(index);
    const trimmed = expression.trim();
    if (trimmed === '') report.required(at.child('expression'));
    else
      validateExpression(report, at.child('expression'), compiler, trimmed, {
        hasParams,
        hasAuthorizer: true,
        returns: ['bool'],
      });
    if (isEmpty(name)) report.required(at.child('name'));
    else report.problems(at.child('name'), name, isQualifiedName(name));
    if (name !== '' && isRepeat(name)) report.duplicate(at.child('name'), name);
  });
}

/** Variables that later expressions of the same policy may use. */
export function validateVariables(
  report: Report,
  path: Path,
  compiler: AdmissionCompiler,
  variables: admission.Variable[] | undefined,
  hasParams: boolean,
): void {
  variables?.forEach(({ name = '', expression = '' }: Partial<admission.Variable>, index) => {
    const at = path.index(index);
    if (name.trim() === '') report.required(at.child('name'), 'name is not specified');
    else if (!isCELIdentifier(name)) report.invalid(at.child('name'), name, 'must be a valid CEL identifier');
    if (expression.trim() === '') return report.required(at.child('expression'), 'expression is not specified');
    const problem = compiler.declare(name, expression, { hasParams, hasAuthorizer: true });
    if (problem !== undefined) report.invalid(at.child('expression'), expression, problem);
  });
}
