// One executor for all control loops: watches -> keys -> view -> plan -> effects (design: "Controller").
// A loop is data plus two pure functions. The executor applies effects, turns conflicts into requeues, backs off, records events and
// metrics, holds a key back until the cache has seen that key's own writes, and keeps `because` for explanation.
import type { GroupVersionResource, KubeObject, OwnerReference } from '#apimachinery/meta';
import type { DeleteOptions, PatchType } from '#apimachinery/transport';
import type { Indexers } from '#client';

/** RBAC rule (rbac.authorization.k8s.io/v1 PolicyRule). */
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
}

/** Writes, in the order they are to happen. Those of one `parallel` group run in slow-start batches (1, 2, 4, ...). */
export type Effect =
  | { op: 'create'; resource: GroupVersionResource; object: KubeObject; subresource?: string; name?: string }
  | { op: 'update'; resource: GroupVersionResource; object: KubeObject; subresource?: string }
  | { op: 'patch'; ref: Ref; type: PatchType; body: unknown; subresource?: string; force?: boolean; fieldManager?: string }
  | { op: 'delete'; ref: Ref; options?: DeleteOptions }
  | { op: 'event'; regarding: KubeObject; type: 'Normal' | 'Warning'; reason: string; message: string }
  | { op: 'parallel'; effects: Effect[] }
  /** A named action outside the API (a cloud call); its function is in the controller's `actions`. */
  | { op: 'action'; name: string; input: unknown };

export interface Plan {
  effects: Effect[];
  /** Look again after this long, even if nothing changes. */
  requeueAfterMs?: number;
  /** Read these past the cache and reconcile again with `view.live`. */
  needsLive?: Ref[];
  /** One sentence for `sagong explain`: what was decided and why. */
  because?: string;
}

/** Read side of the informers a controller watches. Objects are frozen. */
export interface Cache {
  get<T extends KubeObject>(resource: GroupVersionResource, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): T[];
  byIndex<T extends KubeObject>(resource: GroupVersionResource, index: string, value: string): T[];
  /** Objects whose ownerReferences name this uid (any owner, not only the controller). Always indexed. */
  ownedBy<T extends KubeObject>(resource: GroupVersionResource, uid: string): T[];
}

export interface WatchDefinition<T extends KubeObject = KubeObject> {
  resource: GroupVersionResource;
  /** Keys to reconcile when `object` appears, changes (`old` is set) or goes. Absent: only cached, for views. */
  keys?(object: T, old: T | undefined, cache: Cache): Iterable<string>;
  indexers?: Indexers<T>;
  fieldSelector?: string;
}

export interface ControllerDefinition<View = unknown> {
  /** Upstream's name, e.g. `replicaset-controller`. */
  name: string;
  /** Older names accepted by `--controllers`. */
  aliases?: string[];
  /** The RBAC rules of `system:controller:<name>`; the bootstrap policy is made from these. */
  rights: PolicyRule[];
  watches: WatchDefinition<never>[];
  /** The frozen slice of the world that `reconcile` may see. Pure. `live` holds answers to `needsLive`, keyed by `refKey`. */
  view(key: string, cache: Cache, live: ReadonlyMap<string, KubeObject | undefined>): View;
  /** Decides. Pure and synchronous: no time, no randomness, no I/O beyond its arguments. */
  reconcile(view: View, now: number): Plan;
  /** Keys to reconcile at start and then every so often without an event (for loops over time). */
  periodic?: { everyMs: number; keys(cache: Cache): Iterable<string> };
  /** Handlers of `action` effects. Rejections requeue the key with back-off. */
  actions?: Record<string, (input: unknown, signal: AbortSignal) => Promise<void>>;
}

/** The name of a ref in `live`. */
export const refKey = (ref: Ref): string => `${ref.resource.group}/${ref.resource.resource}/${ref.namespace}/${ref.name}`;

/** An owner reference that makes `owner` the controller of a child. */
export const controllerRef = (owner: KubeObject, group: string, version: string, kind: string): OwnerReference => ({
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** Declares a controller; only checks types. */
export function defineController<View>(definition: ControllerDefinition<View>): ControllerDefinition<View> {
  return definition;
}
