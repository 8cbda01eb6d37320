// Bindings of validating policies (admissionregistration.k8s.io/v1; pkg/registry/admissionregistration/validatingadmissionpolicybinding).
import type { ValidatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { root } from '#apimachinery/field';
import { repeats } from '#utils';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { bindingRules } from '../common/binding-rules.ts';
import { validateBinding } from '../common/policies.ts';

const bothActions =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';

function validateActions(report: Report, actions: string[]): void {
  const path = root('spec', 'validationActions');
  const isRepeat = repeats();
  actions.forEach((action, index) => {
    report.known(path.index(index), action, ['Audit', 'Deny', 'Warn']);
    if (isRepeat(action)) report.duplicate(path.index(index), action);
  });
  if (actions.includes('Deny') && actions.includes('Warn')) report.invalid(path, actions, bothActions);
  if (isEmpty(actions)) report.required(path, 'at least one validation action is required');
}

const validate = ({ spec }: ValidatingAdmissionPolicyBinding) =>
  collect((report) => {
    validateBinding(report, spec ?? {});
    validateActions(report, spec?.validationActions ?? []);
  });

export const validatingAdmissionPolicyBinding = defineKind<ValidatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  ...bindingRules,
  validate,
  validateUpdate: validate,
});
