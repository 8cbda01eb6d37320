// Templates of claims (resource.k8s.io/v1; pkg/registry/resource/resourceclaimtemplate).
import type { ResourceClaimTemplate } from '#api/resource/v1';
import { root } from '#apimachinery/field';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { validateAnnotations, validateLabels } from '../../common/labels.ts';
import { unsettableInTemplates } from '../../common/object-meta.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { claimDefaults, validateClaimSpec } from '../common/claim.ts';

const path = root('spec');
function validateTemplate(report: Report, { spec }: ResourceClaimTemplate): void {
  const metadata = spec.metadata ?? {};
  const at = path.child('metadata');
  validateAnnotations(report, at.child('annotations'), metadata.annotations);
  validateLabels(report, at.child('labels'), metadata.labels);
  for (const field of unsettableInTemplates) {
    const value = metadata[field];
    if (value && !(Array.isArray(value) && value.length === 0))
      report.forbidden(at.child(field === 'uid' ? 'uID' : field), 'cannot be set');
  }
  validateClaimSpec(report, path.child('spec'), spec.spec ?? {});
}

export const resourceClaimTemplate = defineKind<ResourceClaimTemplate>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  deletion: { returnsObject: true },
  generation: false,
  defaults: ({ spec }) => claimDefaults(spec?.spec),
  validate: (object) => collect((report) => validateTemplate(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateTemplate(report, object);
      const shown = internalForm('resource.ResourceClaimTemplateSpec', object.spec);
      immutable(report, path, object.spec, old.spec, shown);
    }),
  printer: {
    columns: columns('Name', 'Age'),
    cells: ({ metadata }, now) => [metadata.name ?? '', age(metadata, now)],
  },
});
