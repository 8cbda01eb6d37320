// Claims of devices (resource.k8s.io/v1; KEP-4381; pkg/registry/resource/resourceclaim).
import type { ResourceClaim } from '#api/resource/v1';
import { root } from '#apimachinery/field';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { bareStatusDoor } from '../../common/object-meta.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, isEmpty } from '../../common/report.ts';
import { ownStatus } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { claimDefaults, validateClaimSpec } from '../common/claim.ts';
import { dropDeallocated, validateStatusUpdate } from './status.ts';

const path = root('spec');
const statusRules = bareStatusDoor<ResourceClaim>({ validateUpdate: validateStatusUpdate });

function stateText({ metadata, status }: ResourceClaim): string {
  const deleted = metadata.deletionTimestamp ? ['deleted'] : [];
  if (!status?.allocation) return (metadata.deletionTimestamp ? deleted : ['pending']).join(',');
  return [...deleted, 'allocated', ...(isEmpty(status.reservedFor) ? [] : ['reserved'])].join(',');
}

export const resourceClaim = defineKind<ResourceClaim>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  deletion: { returnsObject: true },
  generation: false,
  defaults: ({ spec }) => claimDefaults(spec),
  ...ownStatus,
  prepareForCreate(draft) {
    draft.status = {};
  },
  validate: ({ spec }) => collect((report) => validateClaimSpec(report, path, spec)),
  validateUpdate: ({ spec }, { spec: old }) =>
    collect((report) => immutable(report, path, spec, old, internalForm('resource.ResourceClaimSpec', spec))),
  status: {
    ...statusRules,
    prepareForUpdate(draft, old, context) {
      statusRules.prepareForUpdate?.(draft, old, context);
      dropDeallocated(draft, old);
    },
  },
  printer: {
    columns: columns('Name', 'State', 'Age'),
    cells: (object, now) => [object.metadata.name ?? '', stateText(object), age(object.metadata, now)],
  },
});
