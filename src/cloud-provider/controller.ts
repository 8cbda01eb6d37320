// Controllers that a provider adds to the manager's own (upstream: the InitFuncConstructors that a vendor's main hands to
// NewCloudControllerManagerCommand). As data and two pure functions, like every loop here: the manager watches, keeps the queue, tries again with
// back-off, writes with the controller's own identity, and knows it by name in `--controllers`.
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';

/** What a loop of the provider may do: a rule of RBAC (rbac.authorization.k8s.io/v1 PolicyRule). */
export interface CloudControllerRight {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** What is written, in this order. After one failed only events still go out, and the key is tried again. */
export type CloudEffect =
  | {
      op: 'patch';
      ref: { resource: GroupVersionResource; namespace: string; name: string };
      type: 'application/merge-patch+json' | 'application/strategic-merge-patch+json';
      body: unknown;
      subresource?: string;
      /** An object that is gone already is no failure. */
      goneIsDone?: boolean;
    }
  | { op: 'event'; regarding: KubeObject; type: 'Normal' | 'Warning'; reason: string; message: string }
  /** A call of the cloud, by a function in `actions`; the plan it answers with is carried out in its place. */
  | { op: 'action'; name: string; input: unknown };

export interface CloudPlan {
  effects: CloudEffect[];
  /** Look again after this long, even if nothing changes. */
  requeueAfterMs?: number;
  /** Why this attempt failed although the effects went well: the key is tried again with back-off. */
  failure?: string;
  /** `context.memory` of the next look at this key. Forgotten when absent, and when the process ends. */
  remember?: unknown;
  /** One sentence: what was decided, and why. */
  because?: string;
}

/** What is watched. `keys` names what to look at when an object appears, changes (`old` is set) or goes (`gone`). */
export interface CloudWatch {
  resource: GroupVersionResource;
  keys(change: { object: KubeObject; old?: KubeObject; gone: boolean }): Iterable<string>;
}

/** The cached objects of the watched resources. They are frozen. */
export interface CloudCache {
  get<T extends KubeObject>(resource: GroupVersionResource, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): T[];
}

export interface CloudViewContext {
  /** What the last plan of this key remembered. */
  memory?: unknown;
  /** The first effect that failed last time this key was looked at. */
  lastFailure?: { message: string };
}

export interface CloudControllerDefinition<View = unknown> {
  /** For `--controllers`. */
  name: string;
  /** Other names for `--controllers`. */
  aliases?: readonly string[];
  /** Runs only when `--controllers` names it; `*` is not enough. */
  disabledByDefault?: boolean;
  /** Account in kube-system it acts as with `--use-service-account-credentials`. Default: its name. */
  serviceAccount?: string;
  /** Why it cannot run as the provider is configured: the manager does not start when it is asked for. */
  problem?: string;
  /** The resource whose objects its keys name, as `namespace/name` or `name`; absent: `sagong explain` shows what it decides with no object. */
  for?: Pick<GroupVersionResource, 'group' | 'resource'>;
  /** The rules its role must have. */
  rights: readonly CloudControllerRight[];
  watches: readonly CloudWatch[];
  /** The part of the world that `reconcile` sees. Pure. */
  view(key: string, cache: CloudCache, context: CloudViewContext): View;
  /** Decides. Pure. `now`: milliseconds since 1970. */
  reconcile(view: View, now: number): CloudPlan;
  /** Calls of the cloud, by name. What they throw is a failure: the key is tried again. */
  actions?: Readonly<Record<string, (input: unknown, signal: AbortSignal) => Promise<CloudPlan | undefined>>>;
  /** Keys in work at the same time. Default 1. */
  concurrency?: number;
}

/** Declares a controller: checks the types, and forgets that of the view. */
export const defineCloudController = <View>(definition: CloudControllerDefinition<View>): CloudControllerDefinition =>
  definition as CloudControllerDefinition;
