// Rules of a pod's volumes (pkg/apis/core/validation, ValidateVolumes).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import type { ObjectMeta } from '#apimachinery/meta';
import { byteLength, isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { parseQuantity } from '#apimachinery/quantity';
import { quote } from '#utils';
import { isEmpty, type Report } from '../../../common/report.ts';
import { validateFileMode } from '../../common/paths.ts';
import * as sources from '../../common/volume-sources.ts';
import { needs, type SourceRule } from '../../common/volume-sources.ts';
import { validateClaimTemplate } from '../../persistentvolumeclaim/validation.ts';
import { validateDownwardAPIFile } from './downward-api.ts';
import { validatePullPolicy } from './pull-policy.ts';
import { validateKeyToPath } from './key-to-path.ts';
import { validateProjected } from './projected.ts';
import type { PodRules } from './rules.ts';

interface VolumeContext {
  volumeName: string;
  /** Undefined in templates. */
  podName: string | undefined;
  rules: PodRules;
}

function validateFiles(report: Report, path: Path, source: { defaultMode?: number; items?: core.KeyToPath[] }): void {
  validateFileMode(report, path.child('defaultMode'), source.defaultMode);
  source.items?.forEach((item, index) => validateKeyToPath(report, path.child('items').index(index), item));
}

type Sources = { [K in keyof core.VolumeSource]-?: SourceRule<NonNullable<core.VolumeSource[K]>, VolumeContext> };

const table: Sources = {
  emptyDir: {
    validate(report, path, { sizeLimit }) {
      if (sizeLimit !== undefined && parseQuantity(sizeLimit).sign < 0) {
        report.forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
      }
    },
  },
  hostPath: { validate: sources.hostPath },
  gitRepo: { validate: sources.gitRepo },
  gcePersistentDisk: { path: 'persistentDisk', validate: sources.gcePersistentDisk },
  awsElasticBlockStore: { validate: sources.awsElasticBlockStore },
  secret: {
    validate(report, path, secret) {
      report.need(path, secret, 'secretName');
      validateFiles(report, path, secret);
    },
  },
  nfs: { validate: sources.nfs },
  iscsi: {
    validate: sources.iscsi,
    beside(report, path, source, { volumeName }) {
      if (source.initiatorName !== undefined && byteLength(`${volumeName}:${source.targetPortal}`) > 64) {
        report.invalid(path.child('name'), volumeName, sources.iscsiTooLong);
      }
    },
  },
  glusterfs: needs('endpoints', 'path'),
  flocker: { validate: sources.flocker },
  persistentVolumeClaim: needs('claimName'),
  rbd: needs('monitors', 'image'),
  cinder: {
    validate(report, path, cinder) {
      report.need(path, cinder, 'volumeID');
      if (cinder.secretRef) report.need(path.child('secretRef'), cinder.secretRef, 'name');
    },
  },
  cephfs: { field: 'cephFS', ...needs('monitors') },
  quobyte: { validate: sources.quobyte },
  downwardAPI: {
    field: 'downwarAPI',
    validate(report, path, source) {
      validateFileMode(report, path.child('defaultMode'), source.defaultMode);
      for (const item of source.items ?? []) validateDownwardAPIFile(report, path, item);
    },
  },
  fc: { validate: sources.fc },
  flexVolume: { validate: sources.flexVolume },
  configMap: {
    validate(report, path, configMap) {
      report.need(path, configMap, 'name');
      validateFiles(report, path, configMap);
    },
  },
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: { validate: sources.azureDisk },
  storageos: { validate: sources.storageos },
  projected: { validate: (report, path, projected, { rules }) => validateProjected(report, path, projected, rules) },
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: { validate: validateCSI },
  ephemeral: { validate: validateEphemeral },
  image: {
    validate(report, path, image, { rules }) {
      if (rules.isPod) report.need(path, image, 'reference');
      validatePullPolicy(report, path.child('pullPolicy'), image.pullPolicy);
    },
  },
};

function validateCSI(report: Report, path: Path, source: core.CSIVolumeSource): void {
  sources.csiDriverName(report, path.child('driver'), source.driver);
  const name = source.nodePublishSecretRef?.name;
  if (!source.nodePublishSecretRef) return;
  if (isEmpty(name)) report.required(path.child('nodePublishSecretRef', 'name'));
  else report.problems(path.child('name'), name, isDNS1123Subdomain(name ?? ''));
}

function validateEphemeral(report: Report, path: Path, source: core.EphemeralVolumeSource, context: VolumeContext): void {
  if (source.volumeClaimTemplate) validateClaimTemplate(report, path.child('volumeClaimTemplate'), source.volumeClaimTemplate);
  else report.required(path.child('volumeClaimTemplate'));
  const { podName, volumeName } = context;
  if (!podName || !volumeName) return;
  const claim = `${podName}-${volumeName}`;
  const at = path.parent?.child('name') ?? path;
  for (const problem of isDNS1123Subdomain(claim)) report.invalid(at, volumeName, `PVC name ${quote(claim)}: ${problem}`);
}

/** Reports on all volumes; returns the good ones by name, for the mounts. */
export function validateVolumes(
  report: Report,
  path: Path,
  volumes: core.Volume[],
  meta: ObjectMeta | undefined,
  rules: PodRules,
): Map<string, core.Volume> {
  const known = new Map<string, core.Volume>();
  const podName = meta?.name || undefined;
  const claims = new Set(podName ? volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`) : []);
  volumes.forEach((volume, index) => {
    const at = path.index(index);
    const before = report.count;
    sources.validateOneSource<VolumeContext>(report, at, volume, table, { volumeName: volume.name ?? '', podName, rules });
    if (isEmpty(volume.name)) report.required(at.child('name'));
    else report.problems(at.child('name'), volume.name, isDNS1123Label(volume.name));
    if (known.has(volume.name)) report.duplicate(at.child('name'), volume.name);
    if (report.count === before) known.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName && claims.has(claimName)) {
      report.invalid(
        at.child('persistentVolumeClaim', 'claimName'),
        claimName,
        'must not reference a PVC that gets created for an ephemeral volume',
      );
    }
  });
  return known;
}
