// Pod disruption budgets (policy/v1; pkg/apis/policy/validation, pkg/registry/policy/poddisruptionbudget).
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '#api/policy/v1';
import { type FieldError, root } from '#apimachinery/field';
import { type Condition, validateConditions } from '#apimachinery/validation';
import { validateAtMostAll, validateIntOrPercent } from '../../apps/common/rolling-update.ts';

import { selectorHasInvalidValue, validateLabelSelector } from '../../common/labels.ts';
import { nonnegativeFields } from '../../common/numbers.ts';
import { age, column, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { ownStatus, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';

const path = root('spec');
const policies = ['AlwaysAllow', 'IfHealthyBudget'];

// As upstream's internal type prints.
const printed = ({ minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy }: PodDisruptionBudgetSpec): unknown => ({
  MinAvailable: minAvailable,
  Selector: selector ?? null,
  MaxUnavailable: maxUnavailable,
  UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
});

function validate({ spec = {} }: PodDisruptionBudget, old?: PodDisruptionBudget): FieldError[] {
  return collect((report) => {
    const { minAvailable, maxUnavailable } = spec;
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      report.invalid(path, printed(spec), 'minAvailable and maxUnavailable cannot be both set');
    }
    for (const field of ['minAvailable', 'maxUnavailable'] as const) {
      const value = spec[field];
      if (value === undefined) continue;
      validateIntOrPercent(report, path.child(field), value);
      validateAtMostAll(report, path.child(field), value);
    }
    validateLabelSelector(report, path.child('selector'), spec.selector, selectorHasInvalidValue(old?.spec?.selector));
    report.knownIfSet(path.child('unhealthyPodEvictionPolicy'), spec.unhealthyPodEvictionPolicy, policies);
  });
}

export const podDisruptionBudget = defineKind<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  metadataRules: 'none',
  kubeFinalizers: false,
  validatesMetadata: false,
  ...ownStatus,
  validate: (object) => validate(object),
  validateUpdate: validate,
  allowUnconditionalUpdate: false,
  status: statusDoor<PodDisruptionBudget>({
    validateUpdate: ({ status }) =>
      collect((report) => {
        const at = root('status');
        report.add(validateConditions(status?.conditions as Condition[] | undefined, at.child('conditions')));
        const fields = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;
        if (status) nonnegativeFields(report, at, status, ...fields);
      }),
  }),
  printer: {
    columns: [
      ...columns('Name', 'Min Available', 'Max Unavailable'),
      column('Allowed Disruptions', { type: 'integer' }),
      column('Age'),
    ],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      String(spec?.minAvailable ?? 'N/A'),
      String(spec?.maxUnavailable ?? 'N/A'),
      status?.disruptionsAllowed ?? 0,
      age(metadata, now),
    ],
  },
});
