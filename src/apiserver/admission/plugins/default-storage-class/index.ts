// DefaultStorageClass: claims without a class get the default one (plugin/pkg/admission/storage/storageclass/setdefault).
import type { PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { classOf } from '../../claim-class.ts';
import { newestDefault } from '../../newest-default.ts';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const group = 'storage.k8s.io';
const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

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

export const plugin = definePlugin('DefaultStorageClass', defaultStorageClass);
