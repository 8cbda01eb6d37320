// Persistent volumes (core/v1; pkg/registry/core/persistentvolume).
import type { PersistentVolume } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { age, columns, wideColumns } from '../../common/printing.ts';
import { roundUpResourceList } from '../../common/quantities.ts';
import { collect } from '../../common/report.ts';
import { keep, ownStatus, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { nodeSelectorTermWarnings } from '../common/node-labels.ts';
import { storageClassAnnotation } from '../persistentvolumeclaim/warnings.ts';
import { accessModesText, storageClassOf } from '../persistentvolumeclaim/columns.ts';
import { volumeSourceDefaults } from '../pod/volume-defaults.ts';
import { mountOptionAnnotation, validatePersistentVolume, validatePersistentVolumeUpdate } from './validation.ts';

export { validatePersistentVolumeSpec } from './validation.ts';

const timestamp = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;

function defaults(draft: PersistentVolume): void {
  const spec = (draft.spec ??= {});
  const status = (draft.status ??= {});
  status.phase ||= 'Pending';
  spec.persistentVolumeReclaimPolicy ||= 'Retain';
  spec.volumeMode ??= 'Filesystem';
  roundUpResourceList(spec.capacity);
  volumeSourceDefaults(spec);
}

const deprecatedAnnotations: Record<string, string> = {
  [storageClassAnnotation]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  [mountOptionAnnotation]: 'deprecated since v1.31; use "mountOptions" attribute instead',
};

const deprecatedSources = {
  cephfs: 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'spec.storageOS: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  rbd: 'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
} as const;

function warnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const texts: string[] = [];
  for (const [key, text] of Object.entries(deprecatedAnnotations)) {
    if (metadata.annotations?.[key] !== undefined) texts.push(`${root('metadata', 'annotations').key(key).toString()}: ${text}`);
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    texts.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  const terms = root('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  spec.nodeAffinity?.required?.nodeSelectorTerms?.forEach((term, index) =>
    texts.push(...nodeSelectorTermWarnings(terms.index(index), term, false)),
  );
  for (const [name, text] of Object.entries(deprecatedSources))
    if (spec[name as keyof typeof deprecatedSources]) texts.push(text);
  return texts;
}

const status = statusDoor<PersistentVolume>({
  validateUpdate: ({ metadata }) =>
    collect((report) => {
      if (!metadata.resourceVersion) report.required(root('resourceVersion'));
    }),
});

export const persistentVolume = defineKind<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  metadataRules: 'twice',
  generation: false,
  defaults,
  ...ownStatus,
  prepareForCreate(draft, { now }) {
    draft.status = { phase: 'Pending', lastPhaseTransitionTime: timestamp(now) };
  },
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  warnings,
  status: {
    ...status,
    prepareForUpdate(draft, old, { now }) {
      keep(draft, old, 'spec');
      const next = (draft.status ??= {});
      const before = old.status?.lastPhaseTransitionTime;
      if (next.phase === old.status?.phase) {
        if (before !== undefined) next.lastPhaseTransitionTime ??= before;
      } else if (next.lastPhaseTransitionTime === undefined || next.lastPhaseTransitionTime === before) {
        next.lastPhaseTransitionTime = timestamp(now);
      }
    },
  },
  printer: {
    columns: [
      ...columns('Name', 'Capacity', 'Access Modes', 'Reclaim Policy', 'Status', 'Claim', 'StorageClass'),
      ...columns('', 'VolumeAttributesClass', 'Reason', 'Age').slice(1),
      ...wideColumns('VolumeMode'),
    ],
    cells: ({ metadata, spec = {}, status: now }, time) => [
      metadata.name ?? '',
      spec.capacity?.['storage'] ?? '0',
      accessModesText(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp ? 'Terminating' : (now?.phase ?? ''),
      spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
      storageClassOf(metadata, spec),
      spec.volumeAttributesClassName ?? '<unset>',
      now?.reason ?? '',
      age(metadata, time),
      spec.volumeMode ?? '<unset>',
    ],
  },
  deletion: { returnsObject: true },
});
