// What a kubelet says of the use of its node and pods: the shape of GET /stats/summary (k8s.io/kubelet/pkg/apis/stats/v1alpha1). Pure.

export interface CpuStats {
  time: string;
  usageNanoCores?: number;
  usageCoreNanoSeconds?: number;
}

export interface MemoryStats {
  time: string;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
}

export interface SwapStats {
  time: string;
  swapAvailableBytes?: number;
  swapUsageBytes?: number;
}

export interface FsStats {
  time: string;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
}

export interface InterfaceStats {
  name: string;
  rxBytes?: number;
  rxErrors?: number;
  txBytes?: number;
  txErrors?: number;
}

export interface NetworkStats extends InterfaceStats {
  time: string;
  interfaces: InterfaceStats[];
}

export interface ProcessStats {
  process_count?: number;
}

export interface VolumeStats extends FsStats {
  name: string;
  pvcRef?: { name: string; namespace: string };
}

export interface ContainerStats {
  name: string;
  startTime: string | undefined;
  cpu?: CpuStats;
  memory?: MemoryStats;
  swap?: SwapStats;
  rootfs?: FsStats;
  logs?: FsStats;
}

export interface PodStats {
  podRef: { name: string; namespace: string; uid: string };
  startTime: string | undefined;
  containers: ContainerStats[];
  cpu?: CpuStats;
  memory?: MemoryStats;
  swap?: SwapStats;
  network?: NetworkStats;
  volume?: VolumeStats[];
  'ephemeral-storage'?: FsStats;
  process_stats?: ProcessStats;
}

export interface NodeStats {
  nodeName: string;
  systemContainers?: ContainerStats[];
  startTime?: string;
  cpu?: CpuStats;
  memory?: MemoryStats;
  swap?: SwapStats;
  network?: NetworkStats;
  fs?: FsStats;
  runtime?: { imageFs?: FsStats; containerFs?: FsStats };
  rlimit?: { time: string; maxpid?: number; curproc?: number };
}

export interface StatsSummary {
  node: NodeStats;
  pods: PodStats[];
}
