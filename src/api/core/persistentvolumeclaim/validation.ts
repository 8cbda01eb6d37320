// Rules of persistent volume claims and of claim templates (pkg/apis/core/validation, ValidatePersistentVolumeClaim).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { validateAnnotations, validateLabels, validateLabelSelector } from '../../common/labels.ts';
import { unsettableInTemplates } from '../../common/object-meta.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { validatePositiveQuantity, validateResourceQuantity } from '../common/resources.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

/** What a claim may still have on an update because it had it before. */
export interface ClaimRules {
  allowInvalidSelectorValues?: boolean;
  allowInvalidDataSourceGroup?: boolean;
}

export function validateAccessModes(report: Report, path: Path, modes: string[] | undefined): void {
  for (const mode of modes ?? []) report.known(path, mode, accessModes);
  const single = modes?.includes('ReadWriteOncePod');
  if (single && modes?.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))) {
    report.forbidden(path, 'may not use ReadWriteOncePod with other access modes');
  }
}

export function validateClaimSpec(
  report: Report,
  path: Path,
  spec: core.PersistentVolumeClaimSpec,
  rules: ClaimRules = {},
): void {
  if (isEmpty(spec.accessModes)) report.required(path.child('accessModes'), 'at least 1 access mode is required');
  validateLabelSelector(report, path.child('selector'), spec.selector, rules.allowInvalidSelectorValues);
  validateAccessModes(report, path.child('accessModes'), spec.accessModes);
  const size = spec.resources?.requests?.['storage'];
  const at = path.child('resources').key('storage');
  if (size === undefined) report.required(at);
  else if (parseQuantity(size).sign <= 0) validatePositiveQuantity(report, at, size);
  else validateResourceQuantity(report, at, 'storage', size);
  if (spec.storageClassName)
    report.problems(path.child('storageClassName'), spec.storageClassName, isDNS1123Subdomain(spec.storageClassName));
  report.knownIfSet(path.child('volumeMode'), spec.volumeMode, volumeModes);
  validateSources(report, path, spec, rules);
  const attributes = spec.volumeAttributesClassName;
  if (attributes) report.problems(path.child('volumeAttributesClassName'), attributes, isDNS1123Subdomain(attributes));
}

function validateSources(
  report: Report,
  path: Path,
  { dataSource, dataSourceRef: ref }: core.PersistentVolumeClaimSpec,
  rules: ClaimRules,
): void {
  if (dataSource) validateSource(report, path.child('dataSource'), dataSource, rules);
  if (ref) {
    validateSource(report, path.child('dataSourceRef'), ref, rules);
    if (ref.namespace) report.problems(path.child('dataSourceRef', 'namespace'), ref.namespace, isDNS1123Label(ref.namespace));
  }
  if (!dataSource || !ref) return;
  const same = dataSource.apiGroup === ref.apiGroup && dataSource.kind === ref.kind && dataSource.name === ref.name;
  // Upstream passes a path as the value here, which prints as an empty object.
  if (ref.namespace) report.invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified');
  else if (!same) report.invalid(path, {}, 'must match dataSourceRef');
}

function validateSource(report: Report, path: Path, source: core.TypedLocalObjectReference, rules: ClaimRules): void {
  report.need(path, source, 'name', 'kind');
  const { apiGroup, kind } = source;
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    report.invalid(path, kind ?? '', "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (apiGroup && !rules.allowInvalidDataSourceGroup)
    report.problems(path.child('apiGroup'), apiGroup, isDNS1123Subdomain(apiGroup));
}

/** A claim inside another object: of its metadata only labels and annotations count. */
export function validateClaimTemplate(report: Report, path: Path, template: core.PersistentVolumeClaimTemplate): void {
  validateTemplateMetadata(report, path.child('metadata'), template.metadata);
  validateClaimSpec(report, path.child('spec'), template.spec ?? {});
}

export function validateTemplateMetadata(
  report: Report,
  path: Path,
  metadata: core.PersistentVolumeClaimTemplate['metadata'],
): void {
  validateAnnotations(report, path.child('annotations'), metadata?.annotations);
  validateLabels(report, path.child('labels'), metadata?.labels);
  for (const field of unsettableInTemplates)
    if (!isEmpty(metadata?.[field])) report.forbidden(path.child(field), 'cannot be set');
}
