// StorageObjectInUseProtection: what is in use is not deleted under its user (plugin/pkg/admission/storage/storageobjectinuseprotection).
import { definePlugin, handling, type PluginFactory } from '../../plugin.ts';

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
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

export const plugin = definePlugin('StorageObjectInUseProtection', storageObjectInUseProtection);
