// Persistent volume claims (core/v1; pkg/registry/core/persistentvolumeclaim).
import type { PersistentVolumeClaim } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { age, columns, wideColumns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { keep, ownStatus, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { accessModesText, storageClassOf } from './columns.ts';
import { normalizeDataSources } from './data-sources.ts';
import { persistentVolumeClaimDefaults } from './defaults.ts';
import { validateClaimStatusUpdate, validateClaimUpdate } from './update.ts';
import { validateClaimSpec } from './validation.ts';
import { claimWarnings } from './warnings.ts';

export const persistentVolumeClaim = defineKind<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  generation: false,
  defaults: persistentVolumeClaimDefaults,
  ...ownStatus,
  prepareForCreate(draft) {
    draft.status = { phase: 'Pending' };
    if (draft.spec) normalizeDataSources(draft.spec);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    if (draft.spec) normalizeDataSources(draft.spec, old.spec);
  },
  validate: ({ spec }) => collect((report) => validateClaimSpec(report, root('spec'), spec ?? {})),
  validateUpdate: validateClaimUpdate,
  warnings: claimWarnings,
  status: statusDoor<PersistentVolumeClaim>({ validateUpdate: validateClaimStatusUpdate }),
  printer: {
    columns: [
      ...columns('Name', 'Status', 'Volume', 'Capacity', 'Access Modes', 'StorageClass', 'VolumeAttributesClass', 'Age'),
      ...wideColumns('VolumeMode'),
    ],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
      spec?.volumeName ?? '',
      spec?.volumeName ? (status?.capacity?.['storage'] ?? '0') : '',
      spec?.volumeName ? accessModesText(status?.accessModes) : '',
      storageClassOf(metadata, spec),
      spec?.volumeAttributesClassName ?? '<unset>',
      age(metadata, now),
      spec?.volumeMode ?? '<unset>',
    ],
  },
  deletion: { returnsObject: true },
});
