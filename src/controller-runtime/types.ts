// One executor for all control loops: watches -> keys -> view -> plan -> effects (design: "Controller").
// A loop is data plus two pure functions. The executor applies effects, turns conflicts into requeues, backs off, records events and
// metrics, holds a key back until the cache has seen that key's own writes, and keeps `because` for explanation.
import type { GroupVersionResource, KubeObject, OwnerReference } from '#apimachinery/meta';
import type { DeleteOptions, PatchType } from '#apimachinery/transport';
import type { Indexers, KubeClient } from '#client';
import type { Metrics } from '#component-base';
import type { Clock, Logger } from '#utils';
import type { DiscoveredResource } from './discovery.ts';

/** What a loop may do: a rule of RBAC (rbac.authorization.k8s.io/v1 PolicyRule). */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Ref {
  resource: GroupVersionResource;
  namespace: string;
  name: string;
  /** Only for reads past the cache, e.g. `scale`. */
  subresource?: string;
}

/** The events about a write. In their texts `{name}` is the object's name and `{error}` the failure. */
export interface EffectEvents {
  regarding: KubeObject;
  /** Type: Normal, unless it says otherwise. */
  success?: { reason: string; message: string; type?: 'Normal' | 'Warning' };
  failure?: { reason: string; message: string };
}

/**
 * Writes, in the order they are to happen. After one failed only `event` effects and writes to `status` still run, and the key is tried
 * again with back-off. Those of a `parallel` group run in slow-start batches (1, 2, 4, ...), ended by the first failing batch.
 */
export type Effect =
  | {
      op: 'create';
      resource: GroupVersionResource;
      object: KubeObject;
      name?: string;
      subresource?: string;
      events?: EffectEvents;
    }
  | {
      op: 'update';
      resource: GroupVersionResource;
      object: KubeObject;
      subresource?: string;
      /** Left out once an earlier effect failed, even if it is a write to `status`. */
      afterSuccess?: boolean;
      events?: EffectEvents;
    }
  | {
      op: 'patch';
      ref: Ref;
      type: PatchType;
      body: unknown;
      subresource?: string;
      /** Server-side apply only. */
      force?: boolean;
      fieldManager?: string;
      /** Left out once an earlier effect failed, even if it is a write to `status`. */
      afterSuccess?: boolean;
      /** An object that is gone already is no failure. */
      goneIsDone?: boolean;
      events?: EffectEvents;
    }
  | { op: 'delete'; ref: Ref; options?: DeleteOptions; events?: EffectEvents }
  | {
      op: 'event';
      regarding: KubeObject;
      type: 'Normal' | 'Warning';
      reason: string;
      message: string;
      /** Left out once an earlier effect failed. */
      afterSuccess?: boolean;
    }
  | { op: 'parallel'; effects: Effect[] }
  /**
   * A named action outside plain writes (a cloud call, emptying a namespace); its function is in the controller's `actions`. The plan it
   * answers with is carried out in its place.
   */
  | { op: 'action'; name: string; input: unknown };

/** Something to ask outside the apiserver (a cloud), by one of the controller's `questions`. Asking changes nothing. */
export interface Question {
  /** The name of one of `questions`. */
  name: string;
  /** Distinguishes it from other questions of that name in the same reconcile. */
  about: string;
  input: unknown;
}

/** What came back: an error is an answer, too, for `reconcile` to judge. */
export type Answer = { value: unknown } | { error: Error };

export interface Plan {
  effects: Effect[];
  /** Look again after this long, even if nothing changes. */
  requeueAfterMs?: number;
  /** After a write that met a conflict: try again after this long, instead of with back-off. */
  afterConflictMs?: number;
  /** Read these past the cache and reconcile again with the answers in `context.live`; effects of this plan are not applied. */
  needsLive?: Ref[];
  /** Ask these and reconcile again with the answers in `context.answers`; effects of this plan are not applied. */
  needsAnswers?: Question[];
  /** One sentence for `sagong explain`: what was decided and why. */
  because?: string;
  /** Why this attempt failed although the effects went well: the key is tried again with back-off. */
  failure?: string;
  /**
   * What the next reconcile of this key gets as `context.memory`: observations that are in no object (when a heartbeat was last seen to
   * change). Forgotten when absent, and when the process ends. An action that answers `null` forgets.
   */
  remember?: unknown;
}

/** Read side of the informers a controller watches. Objects are frozen. Reading a resource that is not in `watches` throws. */
export interface Cache {
  get<T extends KubeObject>(resource: GroupVersionResource, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): T[];
  byIndex<T extends KubeObject>(resource: GroupVersionResource, index: string, value: string): T[];
  /** Objects whose ownerReferences name this uid (any owner, not only the controller). Always indexed. */
  ownedBy<T extends KubeObject>(resource: GroupVersionResource, uid: string): T[];
  /** What the apiserver served when last asked; empty for a controller that does not `discover`. */
  discovered(): readonly DiscoveredResource[];
  /** Whether the deletion of this uid was watched lately. Only kept for a controller that does `discover`. */
  isGone(uid: string): boolean;
}

/** What a view may use besides the cache. */
export interface ViewContext {
  /** Answers to `needsLive`, keyed by `refKey`; undefined: there is no such object. */
  live: ReadonlyMap<string, KubeObject | undefined>;
  /** Answers to `needsAnswers`, keyed by `questionKey`. */
  answers?: ReadonlyMap<string, Answer>;
  /** The first effect that failed last time this key was reconciled. */
  lastFailure?: { op: Effect['op']; message: string; reason: string };
  /** What the last plan of this key remembered. */
  memory?: unknown;
  /** For lengths of time that were seen here: unlike the time of day that `reconcile` is given, it never jumps. */
  monotonicMs: number;
}

export interface WatchDefinition<T extends KubeObject = KubeObject> {
  resource: GroupVersionResource;
  /** Keys to reconcile when `object` appears, changes (`old` is set) or goes; undefined: the event concerns nobody. Absent: only cached, for views. */
  keys?(object: T, old: T | undefined, cache: Cache): Iterable<string> | undefined;
  indexers?: Indexers<T>;
  fieldSelector?: string;
  /** Learns how many milliseconds passed until the loop had looked once at all keys of an event that made some, and of those that came meanwhile. */
  burstMs?(durationMs: number): void;
}

/** Declares a watch with the type of its objects. */
export const watch = <T extends KubeObject>(definition: WatchDefinition<T>): WatchDefinition =>
  definition as unknown as WatchDefinition;

/** Does what an `action` effect asks for. The plan it answers with, made by a pure function, is carried out in the effect's place. */
export type Action = (input: unknown, signal: AbortSignal) => Promise<Plan | undefined>;

/** Asks a question. Rejections become answers. */
export type Asker = (input: unknown, signal: AbortSignal) => Promise<unknown>;

/** One object, by its resource and `namespace/name` (`name` where there is no namespace). */
export interface ObjectId {
  group: string;
  resource: string;
  key: string;
}

/**
 * What the keys of a loop name: the objects of one resource, by `namespace/name`; or what a function reads from a key, which is undefined where
 * a key names no object. `sagong explain` shows a decision with the object that it was about.
 */
export type Subject = Pick<GroupVersionResource, 'group' | 'resource'> | ((key: string) => ObjectId | undefined);

/** The subject of a loop whose keys name no object: it decides about the whole cluster at once. */
export const wholeCluster: Subject = () => undefined;

/** The object that a key of a loop names. */
export const objectOf = (subject: Subject, key: string): ObjectId | undefined =>
  typeof subject === 'function' ? subject(key) : { group: subject.group, resource: subject.resource, key };

export interface ActionDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  /** Absent where nobody asks for metrics. */
  metrics?: Metrics;
}

/** What does a named piece of work. */
export interface Named<Do> {
  name: string;
  run: Do;
}

/** A gauge whose values are read from the cache when somebody asks. */
export interface GaugeDefinition {
  /** Upstream's full name. */
  name: string;
  help: string;
  labels: readonly string[];
  /** Values by labels, in declared order. */
  read(cache: Cache): Iterable<{ labels: readonly string[]; value: number }>;
}

export interface ConcurrencyFlag {
  /** Upstream's name, without dashes. */
  flag: string;
  default: number;
}

export interface ControllerDefinition<View = unknown> {
  /** Upstream's name, e.g. `replicaset-controller`. */
  name: string;
  /** Older names accepted by `--controllers`. */
  aliases?: string[];
  /** What its keys name. */
  for: Subject;
  /** Runs only when `--controllers` names it; `*` is not enough. */
  disabledByDefault?: boolean;
  /** Service account in kube-system and end of `system:controller:<...>`, where it is not `name`. '': the manager's own identity. */
  serviceAccount?: string;
  /** Source of the loop's events, where it is not `name`. */
  eventSource?: string;
  /** The RBAC rules of that cluster role. The bootstrap policy is generated from them (test/component/controllers-rights.test.ts). */
  rights: PolicyRule[];
  /** Rules of a Role of that name, by the namespace that the Role is in. */
  rightsIn?: Readonly<Record<string, PolicyRule[]>>;
  watches: WatchDefinition[];
  /** The frozen slice of the world that `reconcile` may see. Pure. */
  view(key: string, cache: Cache, context: ViewContext): View;
  /** Decides. Pure and synchronous: no time, no randomness, no I/O beyond its arguments. */
  reconcile(view: View, now: number): Plan;
  /** Keys to reconcile at start and then every so often without an event (for loops over time). */
  periodic?: { everyMs: number; keys(cache: Cache): Iterable<string> };
  /** Handlers of `action` effects. Rejections requeue the key with back-off. */
  actions?(deps: ActionDeps): readonly Named<Action>[];
  /** Makes what answers `needsAnswers`. */
  questions?(deps: ActionDeps): readonly Named<Asker>[];
  /** Watches on what the apiserver serves, asked again every so often: for loops over all resources. */
  discover?: { everyMs: number; watch(resource: DiscoveredResource): WatchDefinition | undefined };
  gauges?: readonly GaugeDefinition[];
  /** Bounds of the back-off after a failure. Default 5 ms to 1000 s. */
  backoff?: { baseMs: number; maxMs: number };
  /** Keys in work at the same time, as a number or as a flag of the manager with its default. Default 10. */
  concurrency?: number | ConcurrencyFlag;
}

/** The name of a ref in `live`. */
export const refKey = ({ resource, namespace, name, subresource }: Ref): string =>
  `${resource.group}/${resource.resource}/${namespace}/${name}${subresource ? `/${subresource}` : ''}`;

/** The name of a question in `answers`. */
export const questionKey = ({ name, about }: Pick<Question, 'name' | 'about'>): string => `${name}/${about}`;

/** An owner reference that makes `owner` the controller of a child. */
export const controllerRef = (owner: KubeObject, group: string, version: string, kind: string): OwnerReference => ({
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** Declares a controller. The type of its view is checked here and then forgotten: only its own `reconcile` ever gets it. */
export function defineController<View>(definition: ControllerDefinition<View>): ControllerDefinition {
  return definition as unknown as ControllerDefinition;
}
