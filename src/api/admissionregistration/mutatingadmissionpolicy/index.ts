// Mutating admission policies (admissionregistration.k8s.io/v1; KEP-3962; pkg/registry/admissionregistration/mutatingadmissionpolicy).
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, Mutation } from '#api/admissionregistration/v1';
import { type Path, root } from '#apimachinery/field';
import { AdmissionCompiler } from '#cel';
import { age, column } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateExpression, validateMatchConditions, validateVariables } from '../common/expressions.ts';
import { paramKindText, sameConditions, validateParamKind } from '../common/policies.ts';
import {
  defaultMatchResources,
  failurePolicies,
  nameWarnings,
  reinvocationPolicies,
  validateConstraints,
  validateMutatingOperations,
} from '../common/rules.ts';

const path = root('spec');
const fieldOfType = { JSONPatch: 'jsonPatch', ApplyConfiguration: 'applyConfiguration' } as const;
const returns = { JSONPatch: ['list(JSONPatch)'], ApplyConfiguration: ['Object'] };

function validateMutation(report: Report, at: Path, mutation: Mutation, compiler: AdmissionCompiler, hasParams: boolean): void {
  const { patchType: type } = mutation;
  if (isEmpty(type)) return report.required(at.child('patchType'));
  if (type !== 'JSONPatch' && type !== 'ApplyConfiguration')
    return report.notSupported(at.child('patchType'), type, ['ApplyConfiguration', 'JSONPatch']);
  const field = at.child(fieldOfType[type]);
  const own = mutation[fieldOfType[type]];
  const expression = (own?.expression ?? '').trim();
  if (!own) report.required(field, `must be specified when patchType is ${type}`);
  else if (expression === '') report.required(field.child('expression'));
  else {
    const what = { hasParams, hasAuthorizer: true, hasPatchTypes: true, returns: returns[type] };
    validateExpression(report, field.child('expression'), compiler, expression, what);
  }
  const other = fieldOfType[type === 'JSONPatch' ? 'ApplyConfiguration' : 'JSONPatch'];
  if (mutation[other]) report.invalid(at.child(other), `{${other}}`, `must not be specified when patchType is ${type}`);
}

function validatePolicy(report: Report, spec: MutatingAdmissionPolicySpec, checkConditions: boolean): void {
  const hasParams = spec.paramKind !== undefined;
  const compiler = new AdmissionCompiler({ hasVariables: true });
  report.known(path.child('failurePolicy'), spec.failurePolicy, failurePolicies);
  if (spec.paramKind) validateParamKind(report, path.child('paramKind'), spec.paramKind);
  validateConstraints(report, path.child('matchConstraints'), spec.matchConstraints);
  validateMutatingOperations(report, path.child('matchConstraints'), spec.matchConstraints);
  if (checkConditions) validateMatchConditions(report, path.child('matchConditions'), spec.matchConditions, hasParams);
  validateVariables(report, path.child('variables'), compiler, spec.variables, hasParams);
  const at = path.child('mutations');
  if (isEmpty(spec.mutations)) report.required(at, 'mutations must contain at least one item');
  spec.mutations?.forEach((mutation, index) => validateMutation(report, at.index(index), mutation, compiler, hasParams));
  report.oneOf(path.child('reinvocationPolicy'), spec.reinvocationPolicy, reinvocationPolicies);
}

export const mutatingAdmissionPolicy = defineKind<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  metadataRules: 'whole',
  kubeFinalizers: false,
  generation: ({ spec }) => spec ?? {},
  defaults(draft) {
    const spec = (draft.spec ??= {});
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  validate: ({ spec }) => collect((report) => validatePolicy(report, spec ?? {}, true)),
  validateUpdate: ({ spec }, old) => collect((report) => validatePolicy(report, spec ?? {}, !sameConditions(spec, old.spec))),
  warnings: nameWarnings,
  allowUnconditionalUpdate: false,
  printer: {
    columns: [column('Name', { name: true }), column('Mutations', { type: 'integer' }), column('ParamKind'), column('Age')],
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec?.mutations?.length ?? 0,
      paramKindText(spec?.paramKind),
      age(metadata, now),
    ],
  },
});
