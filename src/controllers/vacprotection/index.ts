// Keeps VolumeAttributesClasses from being removed while a claim or a volume names them (pkg/controller/volume/vacprotection).
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { VolumeAttributesClass } from '#api/storage/v1';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { persistentVolumeClaims, persistentVolumes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const finalizer = 'kubernetes.io/vac-protection';
const classes: GroupVersionResource = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' };
/** Claims and volumes by the classes they name. */
const byClass = 'volumeAttributesClass';

export interface ClassProtectionView {
  attributes: VolumeAttributesClass | undefined;
  /** A claim or volume that names it. */
  user: KubeObject | undefined;
}

const unique = (...names: (string | undefined)[]): string[] =>
  [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];

const namedByClaim = ({ spec, status }: PersistentVolumeClaim): string[] =>
  unique(
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  );
const namedByVolume = ({ spec }: PersistentVolume): string[] => unique(spec?.volumeAttributesClassName);

/** Classes that an object names no longer, or that went with it. */
const letGo = (before: readonly string[], now: readonly string[]): string[] => before.filter((name) => !now.includes(name));

const update = (attributes: VolumeAttributesClass, finalizers: string[]): Plan['effects'] => [
  { op: 'update', resource: classes, object: { ...attributes, metadata: { ...attributes.metadata, finalizers } } },
];

export function reconcileClassProtection({ attributes, user }: ClassProtectionView): Plan {
  if (!attributes) return { effects: [] };
  const finalizers = attributes.metadata.finalizers ?? [];
  const isProtected = finalizers.includes(finalizer);
  if (!attributes.metadata.deletionTimestamp) {
    if (isProtected) return { effects: [] };
    return {
      effects: update(attributes, [...finalizers, finalizer]),
      because: 'A class in use must not be removed by accident.',
    };
  }
  if (!isProtected) return { effects: [] };
  if (user) return { effects: [], because: `${user.metadata.name} names it, so it stays for now.` };
  return {
    effects: update(
      attributes,
      finalizers.filter((one) => one !== finalizer),
    ),
    because: 'No claim and no volume names it.',
  };
}

export const vacProtectionController: ControllerDefinition = defineController<ClassProtectionView>({
  name: 'volumeattributesclass-protection-controller',
  for: classes,
  rights: [
    allow('get,list,watch', 'core', 'persistentvolumeclaims'),
    allow('get,list,watch', 'core', 'persistentvolumes'),
    allow('get,list,update,watch', 'storage.k8s.io', 'volumeattributesclasses'),
    recordEvents,
  ],
  watches: [
    watch<VolumeAttributesClass>({ resource: classes, keys: (attributes) => ownKey(attributes) }),
    watch<PersistentVolumeClaim>({
      resource: persistentVolumeClaims,
      indexers: { [byClass]: namedByClaim },
      // Absent `old` is a new claim, or one that is gone: then what it named counts.
      keys: (claim, old) => (old ? letGo(namedByClaim(old), namedByClaim(claim)) : namedByClaim(claim)),
    }),
    watch<PersistentVolume>({
      resource: persistentVolumes,
      indexers: { [byClass]: namedByVolume },
      keys: (volume, old) => (old ? letGo(namedByVolume(old), namedByVolume(volume)) : namedByVolume(volume)),
    }),
  ],
  view: (key, cache) => ({
    attributes: cache.get<VolumeAttributesClass>(classes, '', key),
    user: cache.byIndex(persistentVolumes, byClass, key)[0] ?? cache.byIndex(persistentVolumeClaims, byClass, key)[0],
  }),
  reconcile: reconcileClassProtection,
});
