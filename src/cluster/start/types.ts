// What a start of a cluster is given, what it gives, and what its steps share.
import type { Supervisor } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import type { ClusterNodes } from '../cluster-nodes/cluster-nodes.ts';
import type { ComponentArgs } from '../flags/component-args.ts';
import type { AuditFiles, PlaneAccess } from '../control-plane.ts';
import type { UpFlags } from '../flags/index.ts';
import type { ClusterSettings, EtcdLocation, NodeMount, PortMapping } from '../state/settings.ts';
import type { Progress } from '../terminal/progress.ts';

/** What was given of the flags; those that name files and flags of components, as what they name. */
export interface UpOptions extends UpFlags {
  name: string;
  /** Absolute. */
  dataDir: string;
  /** Ports of this machine that lead to nodes. Absent: those of the last start, if any. */
  portMappings?: PortMapping[] | undefined;
  /** Folders of this machine that nodes see. Absent: those of the last start, if any. */
  mounts?: NodeMount[] | undefined;
  /** An etcd to keep the data in; absent: as before, or a store of its own. */
  etcd?: EtcdLocation | undefined;
  /** The audit log of this run; absent where requests are not recorded. */
  audit?: AuditFiles | undefined;
  /** Flags of components. Components that are absent keep those of the last start. */
  componentArgs?: ComponentArgs;
  /** Further flags of each node's kubelet, in the order of the nodes. Absent: those of the last start, if any. */
  nodeArgs?: readonly (readonly string[])[] | undefined;
  /** How to run this program, for node agents. */
  program: readonly string[];
  env: Record<string, string | undefined>;
}

export interface UpDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  progress: Progress;
  descriptions?(): Promise<string | undefined>;
  /** Aborting ends a start that is under way. */
  signal?: AbortSignal;
}

export interface RunningCluster {
  readonly settings: ClusterSettings;
  readonly plane: PlaneAccess;
  /** Resolves when the control plane of this process cannot go on, with the reason. */
  readonly failed: Promise<Error>;
  readonly kubeconfig: string;
  /** Whether the user's own kubeconfig has it as its current context. */
  readonly contextSet: boolean;
  /** Absent: a control plane alone. */
  readonly nodes: ClusterNodes | undefined;
  /** Where people find the apiserver now. */
  server(): string;
  /** Tells other commands that the cluster is ready. */
  announce(): Promise<void>;
  stop(): Promise<void>;
}

/** What the steps of one start share. */
export interface StartDeps extends UpDeps {
  supervisor: Supervisor;
  /** There was no cluster here before: all of its nodes have to come. */
  isFirst: boolean;
  startedAtMs: number;
  /** How to end what was started, in the order it was. */
  undo: (() => Promise<void> | void)[];
  stop(): Promise<void>;
}
