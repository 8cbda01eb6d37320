// Storage classes (storage.k8s.io/v1; pkg/registry/storage/storageclass).
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { type Path, root } from '#apimachinery/field';
import { deepEqual, repeats } from '#utils';
import type { ObjectMeta } from '#apimachinery/meta';
import { immutable } from '../../common/immutable.ts';
import { validateLabelName } from '../../common/labels.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { nodeLabelWarning } from '../../core/common/node-labels.ts';
import { defineKind } from '../../kind.ts';
import { validateParameters, validateProvisioner } from '../common/provisioner.ts';

const topologiesPath = root('allowedTopologies');

/** The values each key may have. */
function validateTopologyTerm(report: Report, path: Path, term: TopologySelectorTerm): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  term.matchLabelExpressions?.forEach(({ key = '', values: given }: Partial<TopologySelectorLabelRequirement>, index) => {
    const values = given ?? [];
    const at = path.child('matchLabelExpressions').index(index);
    if (isEmpty(values)) report.required(at.child('values'));
    const isRepeat = repeats();
    values.forEach((value, item) => {
      if (isRepeat(value)) report.duplicate(at.child('values').index(item), value);
    });
    validateLabelName(report, at.child('key'), key);
    if (Object.hasOwn(found, key)) report.duplicate(at.child('key'), key);
    found[key] = [...new Set(values)].sort();
  });
  return found;
}

function validateTopologies(report: Report, terms: TopologySelectorTerm[] | undefined): void {
  // Upstream's list of terms seen starts with an empty one for each term, so that one without expressions is a duplicate of each.
  const seen: Record<string, string[]>[] = (terms ?? []).map(() => ({}));
  terms?.forEach((term, index) => {
    const at = topologiesPath.index(index);
    const found = validateTopologyTerm(report, at, term);
    for (const other of seen) if (deepEqual(found, other)) report.duplicate(at.child('matchLabelExpressions'), '');
    seen.push(found);
  });
}

function validateStorageClass(report: Report, object: StorageClass): void {
  validateProvisioner(report, root('provisioner'), object.provisioner);
  validateParameters(report, object.parameters, true);
  if (object.reclaimPolicy) report.known(root('reclaimPolicy'), object.reclaimPolicy, ['Delete', 'Retain']);
  report.known(root('volumeBindingMode'), object.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']);
  validateTopologies(report, object.allowedTopologies);
}

/** The class that claims without one get. */
const isDefault = ({ annotations }: ObjectMeta): boolean =>
  annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
  annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true';

export const storageClass = defineKind<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  deletion: { returnsObject: true },
  defaults(draft) {
    draft.reclaimPolicy ??= 'Delete';
    draft.volumeBindingMode ??= 'Immediate';
  },
  validate: (object) => collect((report) => validateStorageClass(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateStorageClass(report, object);
      for (const field of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const)
        immutable(report, root(field), object[field], old[field]);
    }),
  warnings: ({ allowedTopologies }) =>
    (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, term) =>
      (matchLabelExpressions ?? []).flatMap(({ key }, index) => {
        const message = nodeLabelWarning(key);
        const at = topologiesPath.index(term).child('matchLabelExpressions').index(index).child('key');
        return message === undefined ? [] : [`${at.toString()}: ${message}`];
      }),
    ),
  printer: {
    columns: columns('Name', 'Provisioner', 'ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion', 'Age'),
    cells: ({ metadata, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion }, now) => [
      `${metadata.name ?? ''}${isDefault(metadata) ? ' (default)' : ''}`,
      provisioner,
      reclaimPolicy ?? 'Delete',
      volumeBindingMode ?? 'Immediate',
      allowVolumeExpansion ?? false,
      age(metadata, now),
    ],
  },
});
