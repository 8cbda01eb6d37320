// Pods that use more of the node's disk than they may (upstream eviction_manager.go localStorageEviction). Pure.
import type { Pod } from '#api/core/v1';
import { parseQuantity } from '#apimachinery/quantity';
import { podLimits } from '#component-helpers/pod';

const resource = 'ephemeral-storage';

/** What a pod uses of the node's disk, in bytes. */
export interface LocalStorage {
  /** Bytes used by each emptyDir volume, by its name. */
  volumes: ReadonlyMap<string, number>;
  /** Bytes used by each container for its writable layer and its logs, by its name. */
  containers: ReadonlyMap<string, number>;
}

const limitOf = (text: string | undefined): number => (text === undefined ? 0 : parseQuantity(text).value());

/** Whether the pod has any limit that its use of the disk could pass: only then is it worth measuring. */
export const hasStorageLimit = (pod: Pod): boolean =>
  podLimits(pod).has(resource) || (pod.spec?.volumes ?? []).some(({ emptyDir }) => limitOf(emptyDir?.sizeLimit) > 0);

/** Why the pod has to go; undefined when it may stay. */
export function storageExcess(pod: Pod, { volumes, containers }: LocalStorage): string | undefined {
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = limitOf(emptyDir?.sizeLimit);
    if (limit > 0 && (volumes.get(name) ?? 0) > limit)
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${emptyDir?.sizeLimit}". `;
  }
  const onDisk = (pod.spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir && emptyDir.medium !== 'Memory');
  const total =
    onDisk.reduce((sum, { name }) => sum + (volumes.get(name) ?? 0), 0) +
    [...containers.values()].reduce((sum, used) => sum + used, 0);
  const podLimit = podLimits(pod).get(resource);
  if (podLimit && total > podLimit.value())
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${podLimit.toString()}. `;
  for (const { name, resources } of pod.spec?.containers ?? []) {
    const limit = limitOf(resources?.limits?.[resource]);
    if (limit > 0 && (containers.get(name) ?? 0) > limit)
      return `Container ${name} exceeded its local ephemeral storage limit "${resources?.limits?.[resource]}". `;
  }
  return undefined;
}
