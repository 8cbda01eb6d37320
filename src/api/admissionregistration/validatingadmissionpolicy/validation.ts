// Rules of validating admission policies (pkg/apis/admissionregistration/validation, validateValidatingAdmissionPolicySpec; KEP-3488).
import type * as admission from '#api/admissionregistration/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { byteLength, type Condition, isQualifiedName, validateConditions } from '#apimachinery/validation';
import { AdmissionCompiler } from '#cel';
import { repeats } from '#utils';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateExpression, validateMatchConditions, validateVariables } from '../common/expressions.ts';
import { sameConditions, validateParamKind } from '../common/policies.ts';
import { failurePolicies, validateConstraints } from '../common/rules.ts';

const annotationsMax = 20;
const annotationExpressionBytesMax = 5 * 1024;
const path = root('spec');
const notEmpty = 'must be non-empty if specified';

interface Context {
  compiler: AdmissionCompiler;
  hasParams: boolean;
  policyName: string;
}

export function validatePolicy(
  policy: admission.ValidatingAdmissionPolicy,
  old?: admission.ValidatingAdmissionPolicy,
): FieldError[] {
  const spec = policy.spec ?? {};
  const checkConditions = old === undefined || !sameConditions(spec, old.spec);
  return collect((report) => validateSpec(report, spec, policy.metadata.name ?? '', checkConditions));
}

function validateSpec(
  report: Report,
  spec: admission.ValidatingAdmissionPolicySpec,
  policyName: string,
  checkConditions: boolean,
): void {
  const context: Context = {
    compiler: new AdmissionCompiler({ hasVariables: !isEmpty(spec.variables) }),
    hasParams: spec.paramKind !== undefined,
    policyName,
  };
  const { compiler, hasParams } = context;
  report.known(path.child('failurePolicy'), spec.failurePolicy, failurePolicies);
  if (spec.paramKind) validateParamKind(report, path.child('paramKind'), spec.paramKind);
  validateConstraints(report, path.child('matchConstraints'), spec.matchConstraints);
  if (checkConditions) validateMatchConditions(report, path.child('matchConditions'), spec.matchConditions, hasParams);
  validateVariables(report, path.child('variables'), compiler, spec.variables, hasParams);
  const { validations = [], auditAnnotations = [] } = spec;
  const annotationsPath = path.child('auditAnnotations');
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    report.required(path.child('validations'), detail);
    return report.required(annotationsPath, detail);
  }
  validations.forEach((validation, index) =>
    validateValidation(report, path.child('validations').index(index), validation, context),
  );
  if (auditAnnotations.length > annotationsMax)
    report.invalid(annotationsPath, auditAnnotations, `must not have more than ${annotationsMax} auditAnnotations`);
  const isRepeat = repeats<string | undefined>();
  auditAnnotations.forEach((annotation, index) => {
    validateAnnotation(report, annotationsPath.index(index), annotation, context);
    if (isRepeat(annotation.key)) report.duplicate(annotationsPath.index(index).child('key'), annotation.key);
  });
}

function validateValidation(
  report: Report,
  at: Path,
  validation: Partial<admission.Validation>,
  { compiler, hasParams }: Context,
): void {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  if (expression.trim() === '') report.required(at.child('expression'), 'expression is not specified');
  else {
    const what = { hasParams, hasAuthorizer: true, returns: ['bool'] };
    validateExpression(report, at.child('expression'), compiler, expression, what);
  }
  const field = at.child('messageExpression');
  if (messageExpression !== '' && messageExpression.trim() === '') report.invalid(field, messageExpression, notEmpty);
  else if (messageExpression !== '') {
    const what = { hasParams, hasAuthorizer: false, returns: ['string'] };
    validateExpression(report, field, compiler, messageExpression, what);
  }
  if (message !== '' && message.trim() === '') report.invalid(at.child('message'), message, notEmpty);
  else if (/[\n\r]/.test(message.trim())) report.invalid(at.child('message'), message, 'must not contain line breaks');
  report.knownIfSet(at.child('reason'), reason, ['Forbidden', 'Invalid', 'RequestEntityTooLarge']);
}

function validateAnnotation(report: Report, at: Path, annotation: Partial<admission.AuditAnnotation>, context: Context): void {
  const { key = '', valueExpression = '' } = annotation;
  const { policyName, compiler, hasParams } = context;
  const name = `${policyName}/${key}`;
  if (policyName === '') report.invalid(at.child('key'), key, 'requires metadata.name be non-empty');
  else report.problems(at.child('key'), name, isQualifiedName(name));
  const field = at.child('valueExpression');
  const trimmed = valueExpression.trim();
  if (isEmpty(trimmed)) return report.required(field, 'valueExpression is not specified');
  if (byteLength(trimmed) > annotationExpressionBytesMax)
    return report.required(field, `must not exceed ${annotationExpressionBytesMax} bytes in length`);
  const problem = compiler.problemOf(trimmed, { hasParams, hasAuthorizer: true, returns: ['string', 'null_type'] });
  if (problem !== undefined) report.invalid(field, valueExpression, problem);
}

export function validatePolicyStatus({ status }: admission.ValidatingAdmissionPolicy): FieldError[] {
  return collect((report) => {
    const warnings = root('status', 'typeChecking', 'expressionWarnings');
    status?.typeChecking?.expressionWarnings?.forEach(
      ({ warning, fieldRef = '' }: Partial<admission.ExpressionWarning>, index) => {
        if (isEmpty(warning)) report.required(warnings.index(index).child('warning'));
        if (fieldRef.trim() === '') report.required(warnings.index(index).child('fieldRef'));
      },
    );
    report.add(validateConditions((status?.conditions ?? []) as Partial<Condition>[], root('status', 'conditions')));
  });
}
