// Validating admission policies (admissionregistration.k8s.io/v1; KEP-3488; pkg/registry/admissionregistration/validatingadmissionpolicy).
import type { ValidatingAdmissionPolicy } from '#api/admissionregistration/v1';
import { bareStatusDoor } from '../../common/object-meta.ts';
import { age, column } from '../../common/printing.ts';
import { ownStatus } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { paramKindText } from '../common/policies.ts';
import { defaultMatchResources, nameWarnings } from '../common/rules.ts';
import { validatePolicy, validatePolicyStatus } from './validation.ts';

export const validatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  metadataRules: 'whole',
  kubeFinalizers: false,
  generation: ({ spec }) => spec ?? {},
  defaults(draft) {
    const spec = (draft.spec ??= {});
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  ...ownStatus,
  validate: (object) => validatePolicy(object),
  validateUpdate: (object, old) => validatePolicy(object, old),
  warnings: nameWarnings,
  allowUnconditionalUpdate: false,
  status: bareStatusDoor({ validateUpdate: validatePolicyStatus, warnings: nameWarnings }),
  printer: {
    columns: [column('Name', { name: true }), column('Validations', { type: 'integer' }), column('ParamKind'), column('Age')],
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec?.validations?.length ?? 0,
      paramKindText(spec?.paramKind),
      age(metadata, now),
    ],
  },
});
