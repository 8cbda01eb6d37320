// Every option of a kubelet, with upstream's defaults (cmd/kubelet/app/options, KubeletConfiguration v1beta1).
import type { Taint } from '#api/core/v1';
import type { FlagTexts } from '#component-base';
import { imageAgeMsMin, podsMax, pressureTransitionMs } from './limits.ts';

/** Quantities or percentages by signal, for example `memory.available` -> `100Mi`. */
type Thresholds = Readonly<Record<string, string>>;

export interface EvictionOptions {
  hard: Thresholds;
  /** Thresholds that have to be met for `softGracePeriod` (durations as texts). */
  soft: Thresholds;
  softGracePeriod: Readonly<Record<string, string>>;
  /** How much more than the threshold is to be free after an eviction. */
  minimumReclaim: Thresholds;
  /** The longest grace of pods that a soft threshold ends. */
  maxPodGraceSeconds: number;
  /** Pressure is reported for so long after it has gone. */
  pressureTransitionMs: number;
}

export interface KubeletOptions {
  /** What /flagz shows; left out: there is no /flagz. */
  flags?: FlagTexts;
  nodeName: string;
  hostname: string;
  /** `--node-ip`: addresses of the node, primary first. Empty, `0.0.0.0` or `::`: `ownIPs`, if no cloud knows better. */
  nodeIPs: readonly string[];
  /** What the machine itself says its addresses are. */
  ownIPs: readonly string[];
  registerNode: boolean;
  registerWithTaints: readonly Taint[];
  nodeLabels: Readonly<Record<string, string>>;
  nodeAnnotations: Readonly<Record<string, string>>;
  /** `external`: the node is tainted until a cloud-controller-manager has completed it, and its addresses are the cloud's. */
  cloudProvider: '' | 'external';
  /** `spec.providerID` at registration; empty: the cloud-controller-manager finds out. */
  providerID: string;
  /** The network of pods needs a route that a cloud makes: registers with NetworkUnavailable, so that nothing is scheduled before it. */
  routesFromCloud: boolean;
  podsMax: number;
  /** Withheld from pods for the system, the kubelet and eviction, as quantities. */
  reserved: Readonly<Record<string, string>>;
  clusterDNS: readonly string[];
  clusterDomain: string;
  rootDir: string;
  podLogsDir: string;
  /** What `/logs/` of the server shows. */
  systemLogsDir: string;
  podManifestPath: string;
  containerRuntimeEndpoint: string;
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
  cgroupDriver: 'cgroupfs' | 'systemd';
  port: number;
  address: string;
  serializeImagePulls: boolean;
  eviction: EvictionOptions;
  imageGcHighPercent: number;
  imageGcLowPercent: number;
  /** Younger images are never collected. */
  imageAgeMsMin: number;
  /** Images unused for longer are collected whatever the disk; 0: never. */
  imageAgeMsMax: number;
  containerLogMaxBytes: number;
  containerLogMaxFiles: number;
  nodeStatusUpdateMs: number;
  nodeStatusReportMs: number;
  leaseSeconds: number;
  resolvConf: string;
  /** Containers without a seccomp profile get RuntimeDefault. */
  seccompDefault: boolean;
  /** Settings of the kernel that pods may have besides the safe ones; a pattern ends in `*`. */
  allowedUnsafeSysctls: readonly string[];
  /** Processes and threads of one pod; -1: as many as the node can have. */
  podPidsMax: number;
  /** The node does not start on a kernel whose settings are not those that the kubelet relies on. */
  protectKernelDefaults: boolean;
  /** Sandbox image, spared by image garbage collection. */
  podInfraImage: string;
}

export const defaultEvictionHard: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/** Upstream's defaults, for a node of that name. */
export const defaultOptions = (nodeName: string): KubeletOptions => ({
  nodeName,
  hostname: nodeName,
  nodeIPs: [],
  ownIPs: [],
  registerNode: true,
  registerWithTaints: [],
  nodeLabels: {},
  nodeAnnotations: {},
  cloudProvider: '',
  providerID: '',
  routesFromCloud: false,
  podsMax,
  reserved: {},
  clusterDNS: [],
  clusterDomain: 'cluster.local',
  rootDir: '/var/lib/kubelet',
  podLogsDir: '/var/log/pods',
  systemLogsDir: '/var/log',
  podManifestPath: '',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupRoot: '',
  cgroupsPerQOS: true,
  cgroupDriver: 'cgroupfs',
  port: 10250,
  address: '0.0.0.0',
  serializeImagePulls: true,
  eviction: {
    hard: defaultEvictionHard,
    soft: {},
    softGracePeriod: {},
    minimumReclaim: {},
    maxPodGraceSeconds: 0,
    pressureTransitionMs,
  },
  imageGcHighPercent: 85,
  imageGcLowPercent: 80,
  imageAgeMsMin,
  imageAgeMsMax: 0,
  containerLogMaxBytes: 10 * 1024 * 1024,
  containerLogMaxFiles: 5,
  nodeStatusUpdateMs: 10_000,
  nodeStatusReportMs: 300_000,
  leaseSeconds: 40,
  resolvConf: '/etc/resolv.conf',
  seccompDefault: false,
  allowedUnsafeSysctls: [],
  podPidsMax: -1,
  protectKernelDefaults: false,
  podInfraImage: 'registry.k8s.io/pause:3.10.1',
});
