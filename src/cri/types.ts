// The messages of runtime.v1 that are used here (k8s.io/cri-api). Field names in camel case; 64-bit numbers come as decimal texts and may be
// given as numbers; enums are their names; times are nanoseconds since the epoch. Fields left out have their zero value on the wire.

/** A 64-bit number as it arrives; sent as number or text. */
export type Int64 = string | number;

export interface PodSandboxMetadata {
  name: string;
  uid: string;
  namespace: string;
  attempt: number;
}

export type NamespaceMode = 'POD' | 'CONTAINER' | 'NODE' | 'TARGET';

export interface NamespaceOption {
  network: NamespaceMode;
  pid: NamespaceMode;
  ipc: NamespaceMode;
  targetId?: string;
}

export interface SecurityProfile {
  profileType: 'RuntimeDefault' | 'Unconfined' | 'Localhost';
  localhostRef?: string;
}

export interface LinuxSandboxSecurityContext {
  namespaceOptions: NamespaceOption;
  selinuxOptions?: SelinuxOption;
  runAsUser?: { value: Int64 };
  runAsGroup?: { value: Int64 };
  readonlyRootfs?: boolean;
  supplementalGroups?: Int64[];
  privileged?: boolean;
  seccomp?: SecurityProfile;
}

export interface SelinuxOption {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

export interface PortMapping {
  protocol: 'TCP' | 'UDP' | 'SCTP';
  containerPort: number;
  hostPort: number;
  hostIp: string;
}

export interface PodSandboxConfig {
  metadata: PodSandboxMetadata;
  hostname: string;
  logDirectory: string;
  dnsConfig?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: PortMapping[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  linux: {
    cgroupParent: string;
    securityContext: LinuxSandboxSecurityContext;
    sysctls?: Record<string, string>;
    resources?: LinuxContainerResources;
  };
}

export interface ImageSpec {
  image: string;
  annotations?: Record<string, string>;
  userSpecifiedImage?: string;
}

export interface Mount {
  containerPath: string;
  hostPath: string;
  readonly?: boolean;
  selinuxRelabel?: boolean;
  propagation?: 'PROPAGATION_PRIVATE' | 'PROPAGATION_HOST_TO_CONTAINER' | 'PROPAGATION_BIDIRECTIONAL';
}

export interface LinuxContainerResources {
  cpuPeriod?: Int64;
  cpuQuota?: Int64;
  cpuShares?: Int64;
  memoryLimitInBytes?: Int64;
  oomScoreAdj?: Int64;
  cpusetCpus?: string;
  cpusetMems?: string;
  hugepageLimits?: { pageSize: string; limit: Int64 }[];
  unified?: Record<string, string>;
}

export interface LinuxContainerSecurityContext {
  capabilities?: { addCapabilities: string[]; dropCapabilities: string[] };
  privileged?: boolean;
  namespaceOptions: NamespaceOption;
  selinuxOptions?: SelinuxOption;
  runAsUser?: { value: Int64 };
  runAsGroup?: { value: Int64 };
  runAsUsername?: string;
  readonlyRootfs?: boolean;
  supplementalGroups?: Int64[];
  noNewPrivs?: boolean;
  maskedPaths?: string[];
  readonlyPaths?: string[];
  seccomp?: SecurityProfile;
}

export interface ContainerConfig {
  metadata: { name: string; attempt: number };
  image: ImageSpec;
  command: string[];
  args: string[];
  workingDir: string;
  /** Values are bytes on the wire. */
  envs: { key: string; value: Uint8Array }[];
  mounts: Mount[];
  devices?: { containerPath: string; hostPath: string; permissions: string }[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  linux: { resources?: LinuxContainerResources; securityContext: LinuxContainerSecurityContext };
}

export interface PodSandbox {
  id: string;
  metadata: PodSandboxMetadata;
  state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY';
  createdAt: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface PodSandboxStatus extends PodSandbox {
  network: { ip: string; additionalIps: { ip: string }[] } | null;
  linux: { namespaces: { options: NamespaceOption | null } | null } | null;
}

export type ContainerState = 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' | 'CONTAINER_UNKNOWN';

export interface Container {
  id: string;
  podSandboxId: string;
  metadata: { name: string; attempt: number };
  imageRef: string;
  state: ContainerState;
  createdAt: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface ContainerStatus {
  id: string;
  metadata: { name: string; attempt: number };
  state: ContainerState;
  createdAt: string;
  startedAt: string;
  finishedAt: string;
  exitCode: number;
  image: ImageSpec | null;
  imageRef: string;
  imageId: string;
  reason: string;
  message: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  mounts: Mount[];
  logPath: string;
  user: { linux: { uid: string; gid: string; supplementalGroups: string[] } | null } | null;
}

export interface RuntimeStatus {
  conditions: { type: string; status: boolean; reason: string; message: string }[];
}

export interface RuntimeVersion {
  version: string;
  runtimeName: string;
  runtimeVersion: string;
  runtimeApiVersion: string;
}

export interface UsageValue {
  value: string;
}

export interface ContainerStats {
  attributes: { id: string; labels: Record<string, string> };
  cpu: { timestamp: string; usageCoreNanoSeconds: UsageValue | null; usageNanoCores: UsageValue | null } | null;
  memory: {
    timestamp: string;
    workingSetBytes: UsageValue | null;
    usageBytes: UsageValue | null;
    rssBytes: UsageValue | null;
  } | null;
  writableLayer: { usedBytes: UsageValue | null; inodesUsed: UsageValue | null } | null;
}

export interface Image {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  size: string;
  uid: { value: string } | null;
  username: string;
  pinned: boolean;
}

export interface AuthConfig {
  username?: string;
  password?: string;
  auth?: string;
  serverAddress?: string;
  identityToken?: string;
  registryToken?: string;
}

export interface FilesystemUsage {
  fsId: { mountpoint: string } | null;
  usedBytes: UsageValue | null;
  inodesUsed: UsageValue | null;
}

export interface ExecRequest {
  containerId: string;
  cmd: string[];
  tty: boolean;
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
}

export type AttachRequest = Omit<ExecRequest, 'cmd'>;

/** The CRI's RuntimeService. Every call rejects with CriError. */
export interface RuntimeService {
  version(): Promise<RuntimeVersion>;
  status(): Promise<RuntimeStatus>;
  /** The runtime's own configuration, so far as it tells it. */
  config(): Promise<{ containerd?: { snapshotter?: string } }>;
  runPodSandbox(config: PodSandboxConfig, runtimeHandler?: string): Promise<string>;
  stopPodSandbox(id: string): Promise<void>;
  removePodSandbox(id: string): Promise<void>;
  podSandboxStatus(id: string): Promise<PodSandboxStatus>;
  listPodSandbox(labels?: Record<string, string>): Promise<PodSandbox[]>;
  createContainer(podSandboxId: string, config: ContainerConfig, sandboxConfig: PodSandboxConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  stopContainer(id: string, timeoutSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  listContainers(labels?: Record<string, string>): Promise<Container[]>;
  containerStatus(id: string): Promise<ContainerStatus>;
  updateContainerResources(id: string, linux: LinuxContainerResources): Promise<void>;
  reopenContainerLog(id: string): Promise<void>;
  execSync(
    id: string,
    command: readonly string[],
    timeoutSeconds: number,
  ): Promise<{ stdout: Uint8Array; stderr: Uint8Array; exitCode: number }>;
  /** URLs of the runtime's streaming server. */
  exec(request: ExecRequest): Promise<string>;
  attach(request: AttachRequest): Promise<string>;
  portForward(podSandboxId: string, ports: readonly number[]): Promise<string>;
  listContainerStats(): Promise<ContainerStats[]>;
  updateRuntimeConfig(podCidr: string): Promise<void>;
}

/** The CRI's ImageService. Every call rejects with CriError. */
export interface ImageService {
  listImages(): Promise<Image[]>;
  /** What the runtime knows of an image; undefined when the image is not there. */
  imageStatus(image: ImageSpec): Promise<Image | undefined>;
  /** What the runtime knows beyond the status; `chainID` names the layers as one. */
  imageInfo(image: ImageSpec): Promise<{ chainID?: string }>;
  pullImage(image: ImageSpec, auth?: AuthConfig, sandboxConfig?: PodSandboxConfig): Promise<string>;
  removeImage(image: ImageSpec): Promise<void>;
  imageFsInfo(): Promise<FilesystemUsage[]>;
}

/** One mount, in the words of mount(8). */
export interface SnapshotMount {
  type: string;
  source: string;
  options: string[];
}

/** Root file systems of images, for reading. Every call rejects with CriError; runtimes other than containerd have none. */
export interface SnapshotService {
  /** What to mount to see the image's root file system. The key names the view; a view that is there already is given again. */
  view(key: string, image: string): Promise<SnapshotMount[]>;
  /** Nothing is there any more, or never was. */
  remove(key: string): Promise<void>;
}

/** A container changed its state. */
export interface ContainerEvent {
  containerId: string;
  /** Known only when the runtime sends CRI events. */
  podUid?: string;
  /** The process has ended, but the runtime's own lists may not say so for some milliseconds. */
  exiting?: boolean;
}
