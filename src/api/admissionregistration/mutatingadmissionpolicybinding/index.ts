// Bindings of mutating policies (admissionregistration.k8s.io/v1; pkg/registry/admissionregistration/mutatingadmissionpolicybinding).
import type { MutatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { root } from '#apimachinery/field';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { bindingRules } from '../common/binding-rules.ts';
import { validateBinding } from '../common/policies.ts';
import { validateMutatingOperations } from '../common/rules.ts';

const validate = ({ spec = {} }: MutatingAdmissionPolicyBinding) =>
  collect((report) => {
    validateBinding(report, spec);
    validateMutatingOperations(report, root('spec', 'matchResources'), spec.matchResources);
  });

export const mutatingAdmissionPolicyBinding = defineKind<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  ...bindingRules,
  validate,
  validateUpdate: validate,
});
