// Plugins about storage: DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize (plugin/pkg/admission/storage).
import type { PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { compareQuantities } from '#apimachinery/quantity';
import { deny, handling, isFor, type PluginFactory } from './plugin.ts';
import { newestDefault } from './newest-default.ts';

const group = 'storage.k8s.io';
const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';
const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

const classOf = (claim: PersistentVolumeClaim): string | undefined =>
  claim.metadata.annotations?.[betaClassAnnotation] ?? claim.spec?.storageClassName;

export const defaultStorageClass: PluginFactory = ({ cluster }) => ({
  name: 'DefaultStorageClass',
  handles: handling('CREATE'),
  admit(request) {
    if (!isFor(request, '', 'persistentvolumeclaims')) return;
    const claim = request.object as PersistentVolumeClaim;
    if (!claim.spec || classOf(claim) !== undefined) return;
    const chosen = newestDefault(cluster.list<StorageClass>(group, 'storageclasses'), defaultAnnotations);
    if (chosen) claim.spec.storageClassName = chosen.metadata.name;
  },
});

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  [`${group}/volumeattributesclasses`]: 'kubernetes.io/vac-protection',
};

export const storageObjectInUseProtection: PluginFactory = () => ({
  name: 'StorageObjectInUseProtection',
  handles: handling('CREATE'),
  admit({ group: of, resource, subresource, object }) {
    const finalizer = subresource === '' ? finalizers[`${of}/${resource}`] : undefined;
    if (finalizer === undefined || !object || object.metadata.finalizers?.includes(finalizer)) return;
    object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  },
});

const sizeOf = (claim: PersistentVolumeClaim): string => claim.spec?.resources?.requests?.storage ?? '0';

export const persistentVolumeClaimResize: PluginFactory = ({ cluster }) => ({
  name: 'PersistentVolumeClaimResize',
  handles: handling('UPDATE'),
  validate(request) {
    if (!isFor(request, '', 'persistentvolumeclaims')) return;
    const claim = request.object as PersistentVolumeClaim;
    const old = request.oldObject as PersistentVolumeClaim;
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') throw deny(request, 'Only bound persistent volume claims can be expanded');
    const name = classOf(claim);
    const found = name && name === classOf(old) ? cluster.get<StorageClass>(group, 'storageclasses', '', name) : undefined;
    if (found?.allowVolumeExpansion) return;
    throw deny(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
});
