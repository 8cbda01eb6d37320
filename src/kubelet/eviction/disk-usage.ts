// How much disk a directory, and a pod, uses (upstream pkg/volume/util/fs DiskUsage, stats of the CRI).
import { join } from 'node:path';
import type { Pod } from '#api/core/v1';
import { Descriptor, holding, isErrno, walkTree } from '#host';
import { latest, type PodRecord } from '../container/types.ts';
import type { ContainerUsage } from '../container/runtime.ts';
import type { LocalStorage } from './local-storage.ts';

const blockBytes = 512;

/** Bytes of all files below; what vanishes meanwhile counts nothing. Infinity for a tree too deep to be measured: nothing can be hidden by depth. */
export async function directoryBytes(path: string): Promise<number> {
  let sum = 0;
  try {
    await holding(Descriptor.at(path), (top) => walkTree(top, ({ info }) => void (sum += Number(info.blocks) * blockBytes)));
  } catch (error) {
    if (isErrno(error, 'ENAMETOOLONG')) return Number.POSITIVE_INFINITY;
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return sum;
}

export interface PodStorageInput {
  pod: Pod;
  record: PodRecord;
  usage: ReadonlyMap<string, ContainerUsage>;
  volumePath(name: string): string | undefined;
  logDirectory: string;
}

/** Measures the pod's emptyDir volumes, logs and writable layers. */
export async function podStorage({ pod, record, usage, volumePath, logDirectory }: PodStorageInput): Promise<LocalStorage> {
  const volumes = new Map<string, number>();
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const path = emptyDir && volumePath(name);
    if (path) volumes.set(name, await directoryBytes(path));
  }
  const containers = new Map<string, number>();
  for (const { name } of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
    const layer = usage.get(latest(record, name)?.id ?? '')?.writableLayerBytes ?? 0;
    containers.set(name, layer + (await directoryBytes(join(logDirectory, name))));
  }
  return { volumes, containers };
}
