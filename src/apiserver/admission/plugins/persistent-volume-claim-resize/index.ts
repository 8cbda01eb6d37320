// PersistentVolumeClaimResize: only bound claims of a class that allows it grow (plugin/pkg/admission/storage/persistentvolume/resize).
import type { PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import { compareQuantities } from '#apimachinery/quantity';
import { classOf } from '../../claim-class.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

const group = 'storage.k8s.io';

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

export const plugin = definePlugin('PersistentVolumeClaimResize', persistentVolumeClaimResize);
