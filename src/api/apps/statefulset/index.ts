// Stateful sets (apps/v1; pkg/registry/apps/statefulset).
import type { StatefulSet } from '#api/apps/v1';
import { root } from '#apimachinery/field';
import { nameIsDNSLabel } from '#apimachinery/validation';
import { age, columns, wideColumns } from '../../common/printing.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { persistentVolumeClaimDefaults } from '../../core/persistentvolumeclaim/defaults.ts';
import { claimSizeWarnings } from '../../core/persistentvolumeclaim/warnings.ts';
import { podTemplateDefaults } from '../../core/pod/defaults.ts';
import { podTemplateWarnings } from '../../core/pod/warnings.ts';
import { defineKind } from '../../kind.ts';
import * as templates from '../../core/pod/templates.ts';
import { validateStatefulSet, validateStatefulSetStatus, validateStatefulSetUpdate } from './validation.ts';

function defaults(draft: StatefulSet): void {
  const spec = (draft.spec ??= { selector: {}, template: {} });
  spec.podManagementPolicy ||= 'OrderedReady';
  const strategy = (spec.updateStrategy ??= {});
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0;
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= 'Retain';
  retention.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  podTemplateDefaults((spec.template ??= {}));
  for (const claim of spec.volumeClaimTemplates ?? []) {
    // Read back, nothing is left to do: the object may be frozen then.
    if (claim.apiVersion !== 'v1') claim.apiVersion = 'v1';
    if (claim.kind !== 'PersistentVolumeClaim') claim.kind = 'PersistentVolumeClaim';
    persistentVolumeClaimDefaults(claim);
  }
}

/** MaxUnavailableStatefulSet is off by default in v1.36. */
function dropMaxUnavailable({ spec }: StatefulSet, old?: StatefulSet): void {
  if (old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined)
    delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

function warnings(set: StatefulSet, old: StatefulSet | undefined): string[] {
  const changed = !old || set.metadata.generation !== old.metadata.generation;
  const claims = set.spec?.volumeClaimTemplates ?? [];
  const list = root('spec', 'volumeClaimTemplates');
  const negative = (set.spec?.revisionHistoryLimit ?? 0) < 0;
  return [
    ...(changed ? podTemplateWarnings(templates.templatePath, set.spec?.template) : []),
    ...claims.flatMap(({ spec }, index) => claimSizeWarnings(old ? list.index(index).child('Spec') : list.index(index), spec)),
    ...(negative
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ];
}

export const statefulSet = defineKind<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  metadataRules: 'change',
  defaults,
  validateName: nameIsDNSLabel,
  prepareForCreate(draft) {
    delete draft.status;
    dropMaxUnavailable(draft);
    templates.dropDisabledTemplateFields(draft.spec?.template);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    dropMaxUnavailable(draft, old);
    templates.dropDisabledTemplateFields(draft.spec?.template, old.spec?.template);
  },
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  warnings,
  resetFields: [['status']],
  status: statusDoor<StatefulSet>({ validateUpdate: validateStatefulSetStatus }),
  scale: templates.replicasScale(),
  printer: {
    columns: [...columns('Name', 'Ready', 'Age'), ...wideColumns('Containers', 'Images')],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      age(metadata, now),
      ...templates.containerCells(spec?.template),
    ],
  },
});
