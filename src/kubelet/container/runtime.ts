// The seam between the kubelet and what runs containers (upstream pkg/kubelet/container runtime.go Runtime, narrowed to single steps: the
// plan is made by `podActions`). Implementations: `containerd` over the CRI, and `simulated` without any process.
import type { Container, Pod } from '#api/core/v1';
import type { PodRecord } from './types.ts';

/** A start that failed. `reason` is the waiting reason of the status, `message` its message. */
export class StartFailure extends Error {
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartFailure';
    this.reason = reason;
  }
}

/** A step for the whole pod that failed; becomes a Warning event. `transient`: try again soon. */
export class PodFailure extends Error {
  readonly reason: string;
  readonly transient: boolean;
  constructor(reason: string, message: string, options: ErrorOptions & { transient?: boolean } = {}) {
    super(message, options);
    this.name = 'PodFailure';
    this.reason = reason;
    this.transient = options.transient ?? false;
  }
}

export interface ImageInfo {
  /** The runtime's id of the image. */
  id: string;
  repoTags: string[];
  repoDigests: string[];
  sizeBytes: number;
  /** Never collected. */
  pinned?: boolean;
  /** The user the image asks for, as name or number. */
  user?: { uid?: number; name?: string };
}

export interface RegistryAuth {
  username?: string;
  password?: string;
  auth?: string;
  serverAddress?: string;
  identityToken?: string;
  registryToken?: string;
}

export interface ImageService {
  status(image: string): Promise<ImageInfo | undefined>;
  /** Answers the image's id. Rejects with an Error whose message is the runtime's. */
  pull(image: string, pod: Pod, auth?: RegistryAuth): Promise<string>;
  list(): Promise<ImageInfo[]>;
  remove(image: string): Promise<void>;
  /** Bytes used by images, and the mount point they are on. */
  usage(): Promise<{ usedBytes: number; mountpoint: string } | undefined>;
}

export interface CreateRequest {
  pod: Pod;
  container: Container;
  sandboxId: string;
  /** Attempt of the sandbox. */
  sandboxAttempt: number;
  restartCount: number;
  /** The image's id. */
  image: ImageInfo;
  podIPs: readonly string[];
  /** Images that are volumes of the container, by the volume's name. */
  imageVolumes: ReadonlyMap<string, ImageInfo>;
  /** Ephemeral containers: the container whose processes it may see. */
  targetId?: string;
}

export interface ExecOutcome {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
}

export interface RuntimeHealth {
  /** Why the runtime cannot work; absent when it can. */
  runtimeError?: string;
  networkError?: string;
}

export interface ContainerUsage {
  cpuNanoCores?: number;
  cpuUsageCoreNanoSeconds?: number;
  memoryWorkingSetBytes?: number;
  memoryUsageBytes?: number;
  memoryRssBytes?: number;
  writableLayerBytes?: number;
}

export interface StreamRequest {
  tty: boolean;
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
}

/** Each call for a connection gives the URL of the runtime's streaming server. */
export interface RuntimeStreams {
  /** Where a container's log is, and whether it may still grow. Rejects for a container that is not there. */
  log(id: string): Promise<{ path: string; open: boolean }>;
  exec(id: string, command: readonly string[], request: StreamRequest): Promise<string>;
  attach(id: string, request: StreamRequest): Promise<string>;
  portForward(sandboxId: string, ports: readonly number[]): Promise<string>;
}

export interface PodRuntime {
  /** Scheme of container ids and of `nodeInfo.containerRuntimeVersion`. */
  readonly name: string;
  readonly images: ImageService;
  /** No process exists: nodes say so. */
  readonly simulated: boolean;
  /** Logs and connections of containers; absent where there are no processes. */
  readonly streams?: RuntimeStreams;
  version(): Promise<string>;
  health(): Promise<RuntimeHealth>;
  /**
   * Calls back with the uid of a pod whose containers changed, or undefined when any may have. Answers whether such events come at all. `podNow`: a pod
   * as its kubelet knows it now, which may not be as it was when its containers began.
   */
  subscribe(onChange: (uid: string | undefined) => void, podNow: (uid: string) => Pod | undefined): Promise<boolean>;
  list(): Promise<PodRecord[]>;
  get(pod: { uid: string; namespace: string; name: string }): Promise<PodRecord>;
  /** Directories, cgroups, volumes. Rejects with PodFailure. */
  preparePod(pod: Pod): Promise<void>;
  /** Uids of pods that `preparePod` left something of on the node. */
  prepared(): Promise<string[]>;
  /** Undoes `preparePod`; resolves when nothing of the pod is left mounted. */
  cleanupPod(uid: string): Promise<void>;
  createSandbox(pod: Pod, attempt: number): Promise<string>;
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;
  /** Rejects with StartFailure. */
  createContainer(request: CreateRequest): Promise<string>;
  /** Gives a running container, and its pod, the resources of the spec (KEP-1287). */
  resizeContainer(id: string, pod: Pod, container: Container): Promise<void>;
  /** Rejects with StartFailure. */
  startContainer(id: string): Promise<void>;
  /** Resolves when it has stopped; a second call with less grace shortens the first. */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  exec(id: string, command: readonly string[], timeoutMs: number): Promise<ExecOutcome>;
  usage(): Promise<Map<string, ContainerUsage>>;
  /** What the node as a whole uses; absent where the machine itself is measured. */
  nodeUsage?(): Promise<ContainerUsage>;
  /** Keeps each container's log below a size, and a number of older files. */
  rotateLogs(bytesMax: number, filesMax: number): Promise<void>;
  /** The node's pod CIDRs became known or changed. */
  updatePodCIDRs(cidrs: readonly string[]): Promise<void>;
  close(): void;
}
