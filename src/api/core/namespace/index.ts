// Namespaces (core/v1; pkg/registry/core/namespace).
import type { Namespace } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { isQualifiedName, nameIsDNSLabel } from '#apimachinery/validation';
import { validateKubeFinalizer } from '../../common/builtin.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';

const nameLabel = 'kubernetes.io/metadata.name';

function labelWithName({ metadata }: Namespace): void {
  if (metadata.name && metadata.labels?.[nameLabel] !== metadata.name) (metadata.labels ??= {})[nameLabel] = metadata.name;
}

function validateFinalizers(report: Report, { spec }: Namespace, indexed: boolean): void {
  const path = root('spec', 'finalizers');
  spec?.finalizers?.forEach((name, index) => {
    const at = indexed ? path.index(index) : path;
    report.problems(at, name, isQualifiedName(name));
    validateKubeFinalizer(report, at, name);
  });
}

const validate = (namespace: Namespace) => collect((report) => validateFinalizers(report, namespace, false));

export const namespace = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  generation: false,
  defaults(draft) {
    labelWithName(draft);
    (draft.status ??= {}).phase ||= 'Active';
  },
  validateName: nameIsDNSLabel,
  prepareForCreate(draft) {
    draft.status = { phase: 'Active' };
    const spec = (draft.spec ??= {});
    if (!spec.finalizers?.includes('kubernetes')) spec.finalizers = [...(spec.finalizers ?? []), 'kubernetes'];
    labelWithName(draft);
  },
  prepareForUpdate(draft, old) {
    keep((draft.spec ??= {}), old.spec ?? {}, 'finalizers');
    keep(draft, old, 'status');
    labelWithName(draft);
  },
  validate,
  validateUpdate: validate,
  resetFields: [['status']],
  status: statusDoor({
    validateUpdate: ({ metadata, status }) =>
      collect((report) => {
        const phase = status?.phase ?? '';
        const path = root('status', 'Phase');
        if (!metadata.deletionTimestamp && phase !== 'Active')
          report.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty");
        if (metadata.deletionTimestamp && phase !== 'Terminating') {
          report.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
        }
      }),
  }),
  doors: {
    finalize: {
      prepareForUpdate: (draft, old) => keep(draft, old, 'status'),
      validateUpdate: (draft) => collect((report) => validateFinalizers(report, draft, true)),
      resetFields: [['status']],
    },
  },
  printer: {
    columns: columns('Name', 'Status', 'Age'),
    cells: ({ metadata, status }, now) => [metadata.name ?? '', status?.phase ?? '', age(metadata, now)],
  },
  selectableFields: ({ status }) => ({ 'status.phase': status?.phase ?? '' }),
  deletion: {
    returnsObject: true,
    documentsStatus: true,
    ownFinalizers: ({ spec }) => spec?.finalizers ?? [],
    markTerminating(draft) {
      draft.status = { ...draft.status, phase: 'Terminating' };
    },
  },
});
