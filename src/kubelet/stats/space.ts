// What pods and their node have on disk, for /stats/summary: volumes, logs and writable layers beside the file system that they are on.
import { join } from 'node:path';
import type { Pod } from '#api/core/v1';
import type { ContainerStats, FsStats, PodStats, VolumeStats } from '#component-helpers/stats';
import type { PodRecord } from '../container/types.ts';
import { directoryBytes } from '../eviction/disk-usage.ts';
import { observe } from '../eviction/observe.ts';
import { podLogDirectory } from '../logs/pod-log-directory.ts';
import type { ContainerUsage } from '../container/runtime.ts';
import type { MountedVolume } from '../container/volume.ts';

type Space = Omit<FsStats, 'time'>;

export interface NodeSpace {
  fs: Space | undefined;
  memoryAvailableBytes: number | undefined;
  pids: { max: number; used: number } | undefined;
}

export async function nodeSpace(rootDir: string): Promise<NodeSpace> {
  const seen = await observe(rootDir);
  const space = seen['nodefs.available'];
  const inodes = seen['nodefs.inodesFree'];
  const pids = seen['pid.available'];
  return {
    fs: space && {
      availableBytes: space.available,
      capacityBytes: space.capacity,
      usedBytes: space.capacity - space.available,
      ...(inodes && {
        inodesFree: inodes.available,
        inodes: inodes.capacity,
        inodesUsed: inodes.capacity - inodes.available,
      }),
    },
    memoryAvailableBytes: seen['memory.available']?.available,
    pids: pids && { max: pids.capacity, used: pids.capacity - pids.available },
  };
}

interface PodFilesystems {
  pod: Pick<PodStats, 'volume' | 'ephemeral-storage'>;
  containers: Map<string, Pick<ContainerStats, 'rootfs' | 'logs'>>;
}

/** What of the file system is this one's: the use is its own, all else the file system's. */
const part = (time: string, { fs = {} }: NodeSpace, usedBytes: number): FsStats => {
  const { availableBytes, capacityBytes, inodes, inodesFree } = fs;
  return {
    time,
    ...(availableBytes !== undefined && { availableBytes, capacityBytes }),
    usedBytes,
    ...(inodes !== undefined && { inodes, inodesFree }),
  };
};

/** Volumes that the kubelet makes itself, on the node's own disk. */
const isLocal = ({
  emptyDir,
  configMap,
  secret,
  projected,
  downwardAPI,
}: NonNullable<NonNullable<Pod['spec']>['volumes']>[number]) =>
  [emptyDir, configMap, secret, projected, downwardAPI].some((source) => source !== undefined && source !== null);

/** A volume whose plugin says what is in it; nothing where it does not right now. */
async function measured(time: string, name: string, { claim, stats }: MountedVolume): Promise<VolumeStats[]> {
  const { bytes, inodes, abnormal } = (await stats?.().catch(() => undefined)) ?? {};
  if (!bytes && !inodes && abnormal === undefined) return [];
  return [
    {
      time,
      ...(bytes && { availableBytes: bytes.available, capacityBytes: bytes.total, usedBytes: bytes.used }),
      ...(inodes && { inodesFree: inodes.available, inodes: inodes.total, inodesUsed: inodes.used }),
      name,
      ...(claim && { pvcRef: claim }),
    },
  ];
}

interface PodSpace {
  podLogsDir: string;
  /** The volumes of the pod's spec. */
  volumes: NonNullable<Pod['spec']>['volumes'];
  /** Those that are mounted, by name; undefined: the runtime mounts no volumes. */
  mounted: ReadonlyMap<string, MountedVolume> | undefined;
  /** What each container uses, by its ID. */
  usage: ReadonlyMap<string, ContainerUsage>;
  space: NodeSpace;
  /** When it was measured. */
  time: string;
}

/** What the containers and volumes of a pod take on the disk. */
export async function filesystemsOf(record: PodRecord, pod: PodSpace): Promise<PodFilesystems> {
  const { podLogsDir, volumes = [], mounted, usage, space, time } = pod;
  const logDirectory = podLogDirectory(podLogsDir, record);
  const containers: PodFilesystems['containers'] = new Map();
  let ephemeralBytes = 0;
  for (const { id, name, state } of record.containers) {
    if (state !== 'running') continue;
    const [layer, logs] = [usage.get(id)?.writableLayerBytes ?? 0, await directoryBytes(join(logDirectory, name))];
    ephemeralBytes += layer + logs;
    containers.set(name, { rootfs: part(time, space, layer), logs: part(time, space, logs) });
  }
  const volume: VolumeStats[] = [];
  for (const source of volumes) {
    const volumeOf = mounted?.get(source.name);
    if (volumeOf?.stats) volume.push(...(await measured(time, source.name, volumeOf)));
    const path = isLocal(source) ? volumeOf?.hostPath : undefined;
    if (path === undefined) continue;
    const bytes = await directoryBytes(path);
    if (source.emptyDir?.medium !== 'Memory') ephemeralBytes += bytes;
    volume.push({ ...part(time, space, bytes), name: source.name });
  }
  return {
    containers,
    pod: { ...(volume.length > 0 && { volume }), 'ephemeral-storage': part(time, space, ephemeralBytes) },
  };
}
