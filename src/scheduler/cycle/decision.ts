// What a scheduling cycle decided and why. Data: the shell acts on it, explanations read it.
import type { BindEffect, NodeInfo, PodInfo, Preemption, Status } from '../framework/index.ts';

export interface NodeScore {
  readonly node: string;
  readonly total: number;
  /** Normalised score of each plugin times its weight. */
  readonly plugins: Readonly<Record<string, number>>;
}

export interface NodeVerdict {
  readonly node: string;
  /** Absent: the node would do. */
  readonly status?: Status;
}

interface Considered {
  readonly pod: PodInfo;
  readonly evaluatedNodes: number;
  readonly feasibleNodes: number;
}

export interface Chosen extends Considered {
  readonly kind: 'chosen';
  readonly node: NodeInfo;
  /** Best first; every node in a small cluster, else the best few. Empty when only one node was left. */
  readonly scores: readonly NodeScore[];
  /** Nodes turned away, by reason: the status and how many. */
  readonly rejected: ReadonlyMap<Status, number>;
  /** What is to be written before the pod is bound. */
  readonly effects: readonly BindEffect[];
}

export interface Failed extends Considered {
  readonly kind: 'failed';
  /** Reason of the PodScheduled condition. */
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** Plugins whose events may help. */
  readonly plugins: ReadonlySet<string>;
  /** Plugins that wait for something outside of the scheduler. */
  readonly pendingPlugins: ReadonlySet<string>;
  /** Every node that was looked at. */
  readonly verdicts: readonly NodeVerdict[];
  readonly preemption?: Preemption;
  /** New nomination; '' takes the old one back; absent leaves it. */
  readonly nominate?: string;
  /** Writes that may make room. */
  readonly effects?: readonly Extract<BindEffect, { kind: 'update' }>[];
}

export type Decision = Chosen | Failed;
