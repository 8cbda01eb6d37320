// Plugins as data: the extension points of the scheduling framework (KEP-624) as functions over a cycle and the plugin's own state.
// They are synchronous and change nothing outside that state; what is to be written to the cluster they answer as effects.
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { Rng } from '#utils';
import type { EventInterest } from './events.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { Snapshot } from './snapshot.ts';
import type { Status } from './status.ts';
import type { ClusterView } from './view.ts';

/** What one scheduling cycle is about. */
export interface Cycle {
  readonly pod: PodInfo;
  readonly snapshot: Snapshot;
  readonly view: ClusterView;
  readonly rng: Rng;
  /** Milliseconds since the Unix epoch: pods without a start time started now. */
  readonly nowMs: number;
  /** Pods that are to run on a node once it has room, by node name. */
  readonly nominated: ReadonlyMap<string, readonly PodInfo[]>;
}

/** `skip`: the plugin has nothing to say about this pod. `nodeNames`: no other node can do. */
export interface PreFilterAnswer<S> {
  state?: S;
  skip?: boolean;
  status?: Status;
  nodeNames?: ReadonlySet<string>;
}

export interface PreScoreAnswer<S> {
  state?: S;
  skip?: boolean;
  status?: Status;
}

/** A write that the shell carries out before the pod is bound, in order. */
export type BindEffect =
  | { kind: 'update'; resource: GroupVersionResource; object: KubeObject; subresource?: 'status' }
  /** Nothing to write: the pod is bound once this holds. */
  | { kind: 'await'; describe: string; timeoutMs: number; done(view: ClusterView): boolean | Status };

/** Takes pods from a node so that another fits. */
export interface Preemption {
  readonly plugin: string;
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

export interface PostFilterAnswer {
  /** Absent: the plugin made the pod schedulable. */
  status?: Status;
  preemption?: Preemption;
  /** Node to nominate; '' takes a nomination back; absent leaves it. */
  nominate?: string;
  /** Writes that may make room. */
  effects?: readonly Extract<BindEffect, { kind: 'update' }>[];
}

/** What a PostFilter plugin may ask the cycle. */
export interface PostFilterTools {
  /** The verdict on a node, if it was looked at. */
  verdict(node: NodeInfo): Status | undefined;
  /** Whether the PreFilter of this plugin ran. */
  preFiltered(plugin: string): boolean;
  /** What its PreFilter gave to the plugin. */
  stateOf<F>(plugin: Plugin<F>): F | undefined;
  /** A dry run on a copy of a node with its own copies of the plugins' states. */
  trial(node: NodeInfo): Trial;
}

export interface Trial {
  readonly node: NodeInfo;
  addPod(pod: PodInfo): void;
  removePod(pod: PodInfo): void;
  /** The verdict as the node stands now, pods nominated to it included. */
  filter(): Status | undefined;
}

/** `F` and `S` are what the plugin keeps between its own filter and score steps; nobody else looks into them. */
export interface Plugin<F = unknown, S = unknown> {
  readonly name: string;
  /** Filter and score look at nothing but the pod's class and the node itself, so they are kept until the node changes. */
  readonly local?: boolean;
  readonly events?: readonly EventInterest[];
  /** A pod turned away here is not even queued. */
  preEnqueue?(pod: PodInfo, view: ClusterView): Status | undefined;
  /** Which of two pods goes first; negative: `a`. */
  compare?(a: QueuedPod, b: QueuedPod): number;

  preFilter?(cycle: Cycle): PreFilterAnswer<F>;
  /** `state` is what `preFilter` gave. */
  filter?(state: F, node: NodeInfo, cycle: Cycle): Status | undefined;
  /** How the state changes with a pod that comes to or leaves a node. */
  addPod?(state: F, pod: PodInfo, node: NodeInfo, cycle: Cycle): void;
  removePod?(state: F, pod: PodInfo, node: NodeInfo, cycle: Cycle): void;
  /** Needed with addPod and removePod. */
  copyState?(state: F): F;
  postFilter?(cycle: Cycle, tools: PostFilterTools): PostFilterAnswer;

  /** Surely no score for this pod, whichever nodes are left. Only asked of plugins that are not `local`; absent: it may have one. */
  quiet?(cycle: Cycle): boolean;
  preScore?(cycle: Cycle, feasible: readonly NodeInfo[], filterState: F | undefined): PreScoreAnswer<S>;
  score?(state: S, node: NodeInfo, cycle: Cycle): number;
  /** Brings the first `count` scores into 0..100 in place; `feasible[i]` is the node of `scores[i]`. */
  normalize?(state: S, scores: Float64Array, feasible: readonly NodeInfo[], cycle: Cycle): void;

  /** Last look at the chosen node, and what is to be written before the pod is bound. */
  preBind?(state: F, node: NodeInfo, cycle: Cycle): readonly BindEffect[];
  permit?(node: NodeInfo, cycle: Cycle): Status | undefined;
  /** Binds pods. */
  readonly binds?: boolean;
}

/** A pod in the queue, as far as its order goes. */
export interface QueuedPod {
  readonly info: PodInfo;
  /** When it was last put in the queue, milliseconds since the Unix epoch. */
  readonly timestampMs: number;
}
