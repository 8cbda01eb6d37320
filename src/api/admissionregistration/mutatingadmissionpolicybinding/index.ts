// Bindings of mutating policies (admissionregistration.k8s.io/v1; pkg/registry/admissionregistration/mutatingadmissionpolicybinding).
import type { MutatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { root } from '#apimachinery/field';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { paramRefText, validateBinding } from '../common/policies.ts';
import { defaultMatchResources, nameWarnings, validateMutatingOperations } from '../common/rules.ts';

const validate = ({ spec = {} }: MutatingAdmissionPolicyBinding) =>
  collect((report) => {
    validateBinding(report, spec);
    validateMutatingOperations(report, root('spec', 'matchResources'), spec.matchResources);
  });

export const mutatingAdmissionPolicyBinding = defineKind<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  metadataRules: 'whole',
  kubeFinalizers: false,
  generation: ({ spec }) => spec ?? {},
  defaults: ({ spec }) => defaultMatchResources(spec?.matchResources),
  validate,
  validateUpdate: validate,
  warnings: nameWarnings,
  allowUnconditionalUpdate: false,
  printer: {
    columns: columns('Name', 'PolicyName', 'ParamRef', 'Age'),
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec?.policyName ?? '',
      paramRefText(spec?.paramRef),
      age(metadata, now),
    ],
  },
});
