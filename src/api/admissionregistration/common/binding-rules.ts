// What the two kinds of bindings of admission policies have alike: how they are prepared, warned about and shown.
import type { MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { age, columns } from '../../common/printing.ts';
import type { KindDefinition } from '../../kind.ts';
import { paramRefText } from './policies.ts';
import { defaultMatchResources, nameWarnings } from './rules.ts';

type Binding = MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding;

export const bindingRules = {
  metadataRules: 'whole',
  kubeFinalizers: false,
  generation: ({ spec }: Binding) => spec ?? {},
  defaults: ({ spec }: Binding) => defaultMatchResources(spec?.matchResources),
  warnings: nameWarnings,
  allowUnconditionalUpdate: false,
  printer: {
    columns: columns('Name', 'PolicyName', 'ParamRef', 'Age'),
    cells: ({ metadata, spec }: Binding, now: number) => [
      metadata.name ?? '',
      spec?.policyName ?? '',
      paramRefText(spec?.paramRef),
      age(metadata, now),
    ],
  },
} as const satisfies Partial<KindDefinition<never>>;
