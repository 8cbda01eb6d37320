// What the runtime knows of a pod, as plain data (upstream pkg/kubelet/container runtime.go PodStatus). The pure core reads only this.

export type ContainerRunState = 'created' | 'running' | 'exited' | 'unknown';

export interface ContainerRecord {
  /** The runtime's id, without scheme. */
  id: string;
  name: string;
  /** Image as the user wrote it. */
  image: string;
  /** What `status.imageID` shows. */
  imageRef: string;
  /** Hash of the part of the spec that makes it another container. */
  hash: string;
  restartCount: number;
  state: ContainerRunState;
  createdAtMs: number;
  /** 0 until started. */
  startedAtMs: number;
  /** 0 until finished. */
  finishedAtMs: number;
  exitCode: number;
  /** The runtime's reason: Completed, Error, OOMKilled, StartError, ContainerStatusUnknown. */
  reason: string;
  message: string;
  user?: { uid: number; gid: number; supplementalGroups?: number[] };
}

export interface SandboxRecord {
  id: string;
  ready: boolean;
  attempt: number;
  createdAtMs: number;
  hostNetwork: boolean;
  /** Empty for the host's network. */
  ips: string[];
}

/** One pod in the runtime. Both lists are newest first and hold the dead ones too. */
export interface PodRecord {
  uid: string;
  name: string;
  namespace: string;
  sandboxes: SandboxRecord[];
  containers: ContainerRecord[];
}

export const emptyRecord = (uid: string, namespace: string, name: string): PodRecord => ({
  uid,
  name,
  namespace,
  sandboxes: [],
  containers: [],
});

/** The newest container of that name. */
export const latest = (record: PodRecord, name: string): ContainerRecord | undefined =>
  record.containers.find((container) => container.name === name);

/** The addresses of the newest sandbox, while it is ready. */
export const recordIPs = (record: PodRecord): string[] => (record.sandboxes[0]?.ready ? record.sandboxes[0].ips : []);

export const anyRunning = (record: PodRecord): boolean => record.containers.some((container) => container.state === 'running');
