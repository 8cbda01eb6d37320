// Leases (coordination.k8s.io/v1; pkg/registry/coordination/lease).
import type { Lease } from '#api/coordination/v1';
import { type FieldError, root } from '#apimachinery/field';
import { isQualifiedName } from '#apimachinery/validation';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';

const path = root('spec');

function validateLease({ spec }: Lease): FieldError[] {
  return collect((report) => {
    const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = spec ?? {};
    if (duration !== undefined && duration <= 0)
      report.invalid(path.child('leaseDurationSeconds'), duration, 'must be greater than 0');
    if (transitions !== undefined && transitions < 0) {
      report.invalid(path.child('leaseTransitions'), transitions, 'must be greater than or equal to 0');
    }
    const at = path.child('strategy', 'strategy');
    if (strategy?.includes('/')) report.problems(at, strategy, isQualifiedName(strategy));
    else if (strategy !== undefined) report.known(at, strategy, ['OldestEmulationVersion']);
    if (preferredHolder && !strategy)
      report.forbidden(path.child('preferredHolder'), 'may only be specified if `strategy` is defined');
  });
}

/** CoordinatedLeaderElection is off by default in v1.36: its fields come in only where they were. */
function dropDisabled({ spec }: Lease, old?: Lease): void {
  for (const field of ['strategy', 'preferredHolder'] as const) if (old?.spec?.[field] === undefined) delete spec?.[field];
}

export const lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  metadataRules: 'change',
  kubeFinalizers: false,
  generation: false,
  prepareForCreate: (draft) => dropDisabled(draft),
  prepareForUpdate: dropDisabled,
  validate: validateLease,
  validateUpdate: validateLease,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  printer: {
    columns: columns('Name', 'Holder', 'Age'),
    cells: ({ metadata, spec }, now) => [metadata.name ?? '', spec?.holderIdentity ?? '', age(metadata, now)],
  },
});
