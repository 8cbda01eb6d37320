// Volume sources of persistent volumes, in the order in which upstream looks at them (pkg/apis/core/validation,
// ValidatePersistentVolumeSpec).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { isEmpty, type Report } from '../../common/report.ts';
import { validatePathNoBacksteps } from '../common/paths.ts';
import * as sources from '../common/volume-sources.ts';
import { needs, type SourceRule } from '../common/volume-sources.ts';

export interface VolumeContext {
  volumeName: string;
  /** The spec says on which nodes the volume is. */
  hasNodeAffinity: boolean;
  /** Where the spec is. */
  specPath: Path;
}

type Sources = {
  [K in keyof core.PersistentVolumeSource]-?: SourceRule<NonNullable<core.PersistentVolumeSource[K]>, VolumeContext>;
};

function validateSecret(report: Report, path: Path, secret: core.SecretReference | core.ObjectReference | undefined): void {
  if (secret) report.need(path, secret, 'name', 'namespace');
}

function validateSecretName(report: Report, path: Path, secret: core.SecretReference | undefined): void {
  if (!secret) return;
  const { name, namespace } = secret;
  report.need(path, secret, 'name');
  if (name) report.problems(path.child('name'), name, isDNS1123Subdomain(name));
  report.need(path, secret, 'namespace');
  if (namespace) report.problems(path.child('namespace'), namespace, isDNS1123Label(namespace));
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

export const persistentVolumeSources: Sources = {
  hostPath: { validate: sources.hostPath },
  gcePersistentDisk: { path: 'persistentDisk', validate: sources.gcePersistentDisk },
  awsElasticBlockStore: { validate: sources.awsElasticBlockStore },
  glusterfs: {
    validate(report, path, source) {
      report.need(path, source, 'endpoints', 'path');
      const { endpointsNamespace: namespace } = source;
      const at = path.child('endpointsNamespace');
      if (namespace === '') report.invalid(at, '', 'if the endpointnamespace is set, it must be a valid namespace name');
      else if (namespace !== undefined) report.problems(at, namespace, isDNS1123Label(namespace));
    },
  },
  flocker: { validate: sources.flocker },
  nfs: { validate: sources.nfs },
  rbd: needs('monitors', 'image'),
  quobyte: { validate: sources.quobyte },
  cephfs: { field: 'cephFS', ...needs('monitors') },
  iscsi: { validate: (report, path, source, { volumeName }) => sources.iscsiPersistent(report, path, source, volumeName) },
  cinder: {
    validate(report, path, source) {
      report.need(path, source, 'volumeID');
      validateSecret(report, path.child('secretRef'), source.secretRef);
    },
  },
  fc: { validate: sources.fc },
  flexVolume: { always: true, validate: sources.flexVolume },
  azureFile: {
    validate(report, path, source) {
      report.need(path, source, 'secretName', 'shareName');
      if (source.secretNamespace === '') report.required(path.child('secretNamespace'));
    },
  },
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: { validate: sources.azureDisk },
  scaleIO: needs('gateway', 'system', 'volumeName'),
  local: {
    validate(report, path, source, { hasNodeAffinity, specPath }) {
      if (isEmpty(source.path)) report.required(path.child('path'));
      else validatePathNoBacksteps(report, path.child('path'), source.path);
      if (!hasNodeAffinity) report.required(specPath.child('nodeAffinity'), 'Local volume requires node affinity');
    },
  },
  storageos: {
    validate(report, path, source) {
      if (isEmpty(source.volumeName)) report.required(path.child('volumeName'));
      else report.problems(path.child('volumeName'), source.volumeName, isDNS1123Label(source.volumeName ?? ''));
      const { volumeNamespace } = source;
      if (volumeNamespace) report.problems(path.child('volumeNamespace'), volumeNamespace, isDNS1123Label(volumeNamespace));
      validateSecret(report, path.child('secretRef'), source.secretRef);
    },
  },
  csi: {
    validate(report, path, source) {
      sources.csiDriverName(report, path.child('driver'), source.driver);
      report.need(path, source, 'volumeHandle');
      for (const name of csiSecrets) validateSecretName(report, path.child(name), source[name]);
    },
  },
};
