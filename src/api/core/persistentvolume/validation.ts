// Rules of persistent volumes, also of those written inline into volume attachments (pkg/apis/core/validation, ValidatePersistentVolumeSpec).
import type { PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec, VolumeNodeAffinity } from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { immutableError, isDNS1123Subdomain, isLabelValue } from '#apimachinery/validation';
import { own } from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { collect, isEmpty, isEmptyMap, type Report } from '../../common/report.ts';
import { internalDiff } from '../../common/unified-diff.ts';
import { validateBasicResource, validatePositiveQuantity } from '../common/resources.ts';
import { validateOneSource } from '../common/volume-sources.ts';
import { validateAccessModes, volumeModes } from '../persistentvolumeclaim/validation.ts';
import { validateNodeSelector } from '../pod/validation/affinity.ts';
import { persistentVolumeSources } from './sources.ts';

export const mountOptionAnnotation = 'volume.beta.kubernetes.io/mount-options';
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
const inlineText = 'in the context of inline volumes';

export interface VolumeRules {
  /** Name of the volume; '' for inline ones. */
  name: string;
  /** The spec is part of a volume attachment. */
  inline?: boolean;
  /** The old object had bad label values in its node affinity. */
  allowInvalidNodeSelectorValues?: boolean;
}

function validateCapacity(report: Report, path: Path, capacity: Record<string, string> = {}): void {
  if (isEmptyMap(capacity)) report.required(path);
  const names = Object.keys(capacity).sort();
  if (names.length !== 1 || names[0] !== 'storage')
    report.notSupported(path, isEmptyMap(capacity) ? null : capacity, ['storage']);
  for (const name of names) {
    validateBasicResource(report, path.key(name), capacity[name] ?? '0');
    validatePositiveQuantity(report, path.key(name), capacity[name] ?? '0');
  }
}

function validateInline(report: Report, path: Path, spec: PersistentVolumeSpec): void {
  const detail = `may not be specified ${inlineText}`;
  if (spec.claimRef) report.forbidden(path.child('claimRef'), detail);
  if (!isEmptyMap(spec.capacity)) report.forbidden(path.child('capacity'), detail);
  if (!spec.csi) report.required(path.child('csi'), `has to be specified ${inlineText}`);
}

function validateReclaimPolicy(report: Report, path: Path, policy: string | undefined, inline = false): void {
  if (!policy) return;
  if (!inline) report.known(path, policy, reclaimPolicies);
  else if (policy !== 'Retain') report.forbidden(path, `may only be Retain ${inlineText}`);
}

function validateNodeAffinity(report: Report, path: Path, spec: PersistentVolumeSpec, rules: VolumeRules): void {
  if (!spec.nodeAffinity) return;
  const { required } = spec.nodeAffinity;
  if (rules.inline) report.forbidden(path, `may not be specified ${inlineText}`);
  else if (required) validateNodeSelector(report, path.child('required'), required, rules.allowInvalidNodeSelectorValues);
  else report.required(path.child('required'), 'must specify required node constraints');
}

/** Last rules: what storage classes and volume modes allow. */
function validateClasses(report: Report, path: Path, spec: PersistentVolumeSpec, inline = false): void {
  const { storageClassName, volumeMode, volumeAttributesClassName: attributes } = spec;
  const classPath = path.child('storageClassName');
  if (storageClassName && inline) report.forbidden(classPath, `may not be specified ${inlineText}`);
  else if (storageClassName) report.problems(classPath, storageClassName, isDNS1123Subdomain(storageClassName));
  if (volumeMode !== undefined) {
    const at = path.child('volumeMode');
    if (!inline) report.known(at, volumeMode, volumeModes);
    else if (volumeMode !== 'Filesystem') report.forbidden(at, `may not specify volumeMode other than Filesystem ${inlineText}`);
  }
  if (attributes === undefined) return;
  const at = path.child('volumeAttributesClassName');
  if (attributes === '') report.required(at, 'an empty string is disallowed');
  else report.problems(at, attributes, isDNS1123Subdomain(attributes));
  if (!spec.csi) report.required(path.child('csi'), 'has to be specified when using volumeAttributesClassName');
}

const isRoot = (path = ''): boolean =>
  path !== '' && path.split('/').every((part) => part === '' || part === '.') && path.startsWith('/');

export function validatePersistentVolumeSpec(report: Report, path: Path, spec: PersistentVolumeSpec, rules: VolumeRules): void {
  const { inline } = rules;
  if (inline) validateInline(report, path, spec);
  if (isEmpty(spec.accessModes)) report.required(path.child('accessModes'));
  validateAccessModes(report, path.child('accessModes'), spec.accessModes);
  if (!inline) validateCapacity(report, path.child('capacity'), spec.capacity);
  const policyPath = path.child('persistentVolumeReclaimPolicy');
  validateReclaimPolicy(report, policyPath, spec.persistentVolumeReclaimPolicy, inline);
  validateNodeAffinity(report, path.child('nodeAffinity'), spec, rules);
  const hasNodeAffinity = spec.nodeAffinity !== undefined && !inline;
  validateOneSource(report, path, spec, persistentVolumeSources, { volumeName: rules.name, hasNodeAffinity, specPath: path });
  if (isRoot(spec.hostPath?.path) && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    report.forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'");
  }
  validateClasses(report, path, spec, inline);
}

const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;

function validateMountOptions(report: Report, { metadata, spec }: PersistentVolume): void {
  if (metadata.annotations?.[mountOptionAnnotation] === undefined || mountable.some((name) => spec?.[name])) return;
  report.forbidden(root('metadata', 'annotations', mountOptionAnnotation), 'may not specify mount options for this volume type');
}

const specPath = root('spec');

function hasInvalidNodeValues({ spec }: PersistentVolume): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ values = [] }) => values.some((value) => isLabelValue(value).length > 0)),
  );
}

function validateVolume(report: Report, { metadata, spec = {} }: PersistentVolume, old?: PersistentVolume): void {
  const allowInvalidNodeSelectorValues = old !== undefined && hasInvalidNodeValues(old);
  validatePersistentVolumeSpec(report, specPath, spec, { name: metadata.name ?? '', allowInvalidNodeSelectorValues });
}

export const validatePersistentVolume = (volume: PersistentVolume): FieldError[] =>
  collect((report) => {
    validateVolume(report, volume);
    validateMountOptions(report, volume);
  });

const sourceOf = (spec: PersistentVolumeSpec = {}): PersistentVolumeSource =>
  Object.fromEntries(Object.keys(persistentVolumeSources).map((name) => [name, spec[name as keyof PersistentVolumeSource]]));

/** The secret for expansion may be added later. */
function comparableSource(spec: PersistentVolumeSpec | undefined, old: PersistentVolumeSpec | undefined): PersistentVolumeSource {
  const source = sourceOf(spec);
  if (!source.csi?.controllerExpandSecretRef || !old?.csi || old.csi.controllerExpandSecretRef) return source;
  const { controllerExpandSecretRef: _, ...csi } = source.csi;
  return { ...source, csi };
}

const renamedLabels: Record<string, string> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
};

const renamed = (affinity: VolumeNodeAffinity | undefined): unknown =>
  affinity?.required?.nodeSelectorTerms?.map(({ matchExpressions = [], matchFields }) => ({
    matchExpressions: matchExpressions.map(({ key, ...rest }) => ({ key: own(renamedLabels, key) ?? key, ...rest })),
    matchFields,
  }));

/** Where a volume is stays; only old names of node labels may be replaced. */
function validateNodeAffinityChange(report: Report, path: Path, affinity?: VolumeNodeAffinity, old?: VolumeNodeAffinity): void {
  if (!old || semanticEqual(affinity, old)) return;
  const isRename =
    affinity !== undefined &&
    semanticEqual(renamed(affinity), renamed(old)) &&
    !semanticEqual(renamed(old), old.required?.nodeSelectorTerms);
  if (!isRename)
    report.invalid(
      path,
      affinity ? internalForm('core.VolumeNodeAffinity', affinity) : null,
      `${immutableError}, except for updating from beta label to GA`,
    );
}

export const validatePersistentVolumeUpdate = (volume: PersistentVolume, old: PersistentVolume): FieldError[] =>
  collect((report) => {
    validateVolume(report, volume, old);
    validateMountOptions(report, volume);
    // Upstream looks at the whole volume again where it compares it with the old one.
    validateVolume(report, volume, old);
    const source = comparableSource(volume.spec, old.spec);
    const before = sourceOf(old.spec);
    if (!semanticEqual(source, before)) {
      const detail = `spec.persistentvolumesource is immutable after creation\n${internalDiff('core.PersistentVolumeSource', before, source)}`;
      report.forbidden(specPath.child('persistentvolumesource'), detail);
    }
    immutable(report, root('volumeMode'), volume.spec?.volumeMode, old.spec?.volumeMode);
    validateNodeAffinityChange(report, root('nodeAffinity'), volume.spec?.nodeAffinity, old.spec?.nodeAffinity);
    if (old.spec?.volumeAttributesClassName !== undefined && volume.spec?.volumeAttributesClassName === undefined) {
      report.forbidden(specPath.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden');
    }
  });
