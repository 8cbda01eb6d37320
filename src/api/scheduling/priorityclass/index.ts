// Priority classes (scheduling.k8s.io/v1; pkg/apis/scheduling/validation, pkg/registry/scheduling/priorityclass).
import type { PriorityClass } from '#api/scheduling/v1';
import { type FieldError, root } from '#apimachinery/field';
import { immutable } from '../../common/immutable.ts';
import { age, column, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { preemptionPolicies } from '../../core/pod/validation/spec.ts';
import { defineKind } from '../../kind.ts';

const systemPrefix = 'system-';
/** Priorities above this are for classes of the system. */
const userPriorityMax = 1_000_000_000;
const systemClasses: Record<string, number> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

function systemProblem({ metadata, value = 0, globalDefault }: PriorityClass): string | undefined {
  const { name = '' } = metadata;
  const known = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validate(object: PriorityClass): FieldError[] {
  return collect((report) => {
    const { metadata, value = 0, preemptionPolicy } = object;
    if (metadata.name?.startsWith(systemPrefix)) {
      const problem = systemProblem(object);
      const detail = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
      if (problem !== undefined) report.forbidden(root('metadata', 'name'), detail);
    } else if (value > userPriorityMax) {
      report.forbidden(root('value'), `maximum allowed value of a user defined priority is ${userPriorityMax}`);
    }
    if (preemptionPolicy !== undefined) report.oneOf(root('preemptionPolicy'), preemptionPolicy, preemptionPolicies);
  });
}

export const priorityClass = defineKind<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  metadataRules: 'change',
  // Set on create; nothing that counts can change.
  generation: () => ({}),
  defaults(draft) {
    draft.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  validate,
  validateUpdate: (object, old) =>
    collect((report) => {
      if ((object.value ?? 0) !== (old.value ?? 0)) report.forbidden(root('value'), 'may not be changed in an update.');
      immutable(report, root('preemptionPolicy'), object.preemptionPolicy, old.preemptionPolicy);
    }),
  printer: {
    columns: [
      ...columns('Name'),
      column('Value', { type: 'integer' }),
      column('Global-Default', { type: 'boolean' }),
      column('Age'),
      column('PreemptionPolicy'),
    ],
    cells: ({ metadata, value, globalDefault, preemptionPolicy }, now) => [
      metadata.name ?? '',
      value ?? 0,
      globalDefault ?? false,
      age(metadata, now),
      preemptionPolicy ?? '',
    ],
  },
});
