// Attachments of volumes to nodes (storage.k8s.io/v1; pkg/registry/storage/volumeattachment).
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '#api/storage/v1';
import { type Path, root } from '#apimachinery/field';
import { byteLength, inclusiveRangeError, isDNS1123Subdomain } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { maxInt32 } from '../../common/numbers.ts';
import { bareStatusDoor } from '../../common/object-meta.ts';
import { age, column } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { keep } from '../../common/strategy.ts';
import { csiDriverName } from '../../core/common/volume-sources.ts';
import { validatePersistentVolumeSpec } from '../../core/persistentvolume/validation.ts';
import { defineKind } from '../../kind.ts';

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;
const specType = 'storage.VolumeAttachmentSpec';
const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSource(report: Report, path: Path, source: VolumeAttachmentSource): void {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  if (inline === undefined && name === undefined) report.required(path, exactlyOne);
  else if (inline !== undefined && name !== undefined) report.forbidden(path, exactlyOne);
  else if (name !== undefined && isEmpty(name))
    report.required(path.child('persistentVolumeName'), 'must specify non empty persistentVolumeName');
  else if (inline !== undefined)
    validatePersistentVolumeSpec(report, path.child('inlineVolumeSpec'), inline, { name: '', inline: true });
}

function validateError(report: Report, path: Path, error: VolumeError | undefined): void {
  // The limit named is upstream's, that of the metadata.
  if (byteLength(error?.message ?? '') > messageBytesMax) report.tooLong(path.child('message'), metadataBytesMax);
  const code = error?.errorCode ?? 0;
  if (code < 0) report.invalid(path.child('errorCode'), code, inclusiveRangeError(0, maxInt32));
}

function validateAttachment(report: Report, { spec, status }: VolumeAttachment): void {
  const path = root('spec');
  csiDriverName(report, path.child('attacher'), spec.attacher);
  validateSource(report, path.child('source'), spec.source ?? {});
  report.problems(path.child('nodeName'), spec.nodeName, isDNS1123Subdomain(spec.nodeName));
  const metadata = Object.entries(status?.attachmentMetadata ?? {});
  if (metadata.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0) > metadataBytesMax) {
    report.tooLong(root('status', 'attachmentMetadata'), metadataBytesMax);
  }
  validateError(report, root('status', 'attachError'), status?.attachError);
  validateError(report, root('status', 'detachError'), status?.detachError);
  const { persistentVolumeName: name } = spec.source ?? {};
  if (name !== undefined) report.problems(root('spec.source.persistentVolumeName'), name, isDNS1123Subdomain(name));
}

const validateUpdate = (object: VolumeAttachment, old: VolumeAttachment) =>
  collect((report) => {
    validateAttachment(report, object);
    immutable(report, root('spec'), object.spec, old.spec, internalForm(specType, object.spec));
  });

export const volumeAttachment = defineKind<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  metadataRules: 'whole',
  deletion: { returnsObject: true },
  generation: false,
  prepareForCreate(draft) {
    draft.status = { attached: false };
  },
  prepareForUpdate: (draft, old) => keep(draft, old, 'status'),
  validate: (object) => collect((report) => validateAttachment(report, object)),
  validateUpdate,
  resetFields: [['status']],
  status: bareStatusDoor({ validateUpdate }),
  allowUnconditionalUpdate: false,
  printer: {
    columns: [
      column('Name', { name: true }),
      column('Attacher', { name: true }),
      column('PV'),
      column('Node'),
      column('Attached', { type: 'boolean' }),
      column('Age'),
    ],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      spec.attacher,
      spec.source?.persistentVolumeName ?? '',
      spec.nodeName,
      status?.attached ?? false,
      age(metadata, now),
    ],
  },
});
