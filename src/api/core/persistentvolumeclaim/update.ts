// Rules of changed claims (pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate and ...StatusUpdate).
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { immutableError, isQualifiedName } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { selectorHasInvalidValue } from '../../common/labels.ts';
import { compareQuantities } from '../../common/quantities.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { internalDiff } from '../../common/unified-diff.ts';
import { isNativeResource } from '../common/resource-names.ts';
import { validateBasicResource, validateResourceQuantity } from '../common/resources.ts';
import { copyDataSources } from './data-sources.ts';
import { type ClaimRules, validateClaimSpec } from './validation.ts';
import { storageClassAnnotation } from './warnings.ts';

const path = root('spec');
const sizePath = path.child('resources', 'requests', 'storage');

const rulesOf = ({ spec }: PersistentVolumeClaim): ClaimRules => ({
  allowInvalidSelectorValues: selectorHasInvalidValue(spec?.selector),
  allowInvalidDataSourceGroup: spec?.dataSource?.apiGroup !== undefined || spec?.dataSourceRef?.apiGroup !== undefined,
});

/** Both specs without what may differ between them. */
function comparable(
  report: Report,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): [PersistentVolumeClaimSpec, PersistentVolumeClaimSpec] {
  const spec = { ...claim.spec };
  const before = { ...old.spec };
  copyDataSources(before);
  if (!before.volumeName) before.volumeName = spec.volumeName;
  compareClasses(report, claim, old, spec);
  if (claim.status?.phase === 'Bound') {
    const storage = before.resources?.requests?.['storage'];
    if (spec.resources?.requests && storage !== undefined) {
      spec.resources = { ...spec.resources, requests: { ...spec.resources.requests, storage } };
    }
    spec.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  return [spec, before];
}

/** A class may move from the old annotation to the field, or be set where there was none. */
function compareClasses(
  report: Report,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  spec: PersistentVolumeClaimSpec,
): void {
  const name = claim.spec?.storageClassName;
  const oldName = old.spec?.storageClassName;
  const annotation = claim.metadata.annotations?.[storageClassAnnotation];
  const oldAnnotation = old.metadata.annotations?.[storageClassAnnotation];
  const moved = oldAnnotation !== undefined && oldName === undefined && name === oldAnnotation;
  if (moved && (annotation === undefined || annotation === oldAnnotation)) {
    delete spec.storageClassName;
    return;
  }
  if ((annotation ?? '') !== (oldAnnotation ?? '')) {
    report.invalid(root('metadata', 'annotations', storageClassAnnotation), annotation ?? '', immutableError);
  }
  const set = name !== undefined && oldName === undefined && (oldAnnotation === undefined || name === oldAnnotation);
  if (set) delete spec.storageClassName;
}

function validateSize(report: Report, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): void {
  const size = claim.spec?.resources?.requests?.['storage'] ?? '0';
  if (compareQuantities(size, old.spec?.resources?.requests?.['storage'] ?? '0') >= 0) return;
  if (compareQuantities(size, old.status?.capacity?.['storage'] ?? '0') <= 0) {
    report.forbidden(sizePath, 'field can not be less than status.capacity');
  }
}

function validateAttributesClass(report: Report, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): void {
  const name = claim.spec?.volumeAttributesClassName;
  if (name === old.spec?.volumeAttributesClassName || old.status?.currentVolumeAttributesClassName === undefined) return;
  const at = path.child('volumeAttributesClassName');
  const what = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
  if (name === undefined) report.forbidden(at, `update to nil ${what}`);
  else if (name === '') report.forbidden(at, `update to empty string ${what}`);
}

export const validateClaimUpdate = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] =>
  collect((report) => {
    validateClaimSpec(report, path, claim.spec ?? {}, rulesOf(old));
    const [spec, before] = comparable(report, claim, old);
    if (!semanticEqual(spec, before)) {
      const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
      report.forbidden(path, `${detail}\n${internalDiff('core.PersistentVolumeClaimSpec', before, spec)}`);
    }
    validateSize(report, claim, old);
    immutable(report, root('volumeMode'), claim.spec?.volumeMode, old.spec?.volumeMode);
    validateAttributesClass(report, claim, old);
  });

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

function validateResourceKey(report: Report, at: Path, name: string): boolean {
  const problems = isQualifiedName(name);
  report.problems(at, name, problems);
  if (problems.length > 0) return false;
  if (!isNativeResource(name) || name === 'storage') return true;
  report.notSupported(at, name, ['storage']);
  return false;
}

export const validateClaimStatusUpdate = ({ metadata, spec, status = {} }: PersistentVolumeClaim): FieldError[] =>
  collect((report) => {
    if (!metadata.resourceVersion) report.required(root('resourceVersion'));
    if (isEmpty(spec?.accessModes)) report.required(root('Spec', 'accessModes'));
    const { capacity = {}, allocatedResourceStatuses: states = {}, allocatedResources: allocated = {} } = status;
    for (const name in capacity) validateBasicResource(report, root('status', 'capacity').key(name), capacity[name] ?? '0');
    const statesPath = root('status', 'allocatedResourceStatuses');
    for (const name in states) {
      validateResourceKey(report, statesPath, name);
      if (!resizeStates.includes(states[name] ?? '')) report.notSupported(statesPath, name, resizeStates);
    }
    const allocatedPath = root('status', 'allocatedResources');
    for (const name in allocated) {
      if (!validateResourceKey(report, allocatedPath, name)) continue;
      const at = allocatedPath.key(name);
      const before = report.count;
      validateBasicResource(report, at, allocated[name] ?? '0');
      if (report.count === before) validateResourceQuantity(report, at, 'storage', allocated[name] ?? '0');
    }
  });
