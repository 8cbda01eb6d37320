// The shapes every API object shares (k8s.io/apimachinery/pkg/apis/meta/v1) and the names kinds and resources go by.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  /** RFC 3339, seconds. */
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  /** Decimal; opaque to clients. */
  resourceVersion?: string;
  generation?: number;
  /** RFC 3339, seconds, UTC. */
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

/** Any API object. Objects read from a cache or a transport are frozen: copy the path you change. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** An object whose type is not known at compile time. */
export type UnknownObject = KubeObject & Record<string, unknown>;

/** The object in the type of its kind, which the caller knows by the resource that was asked for. Throws where there is no object. */
export function asKind<T extends KubeObject>(object: KubeObject | undefined): T {
  if (!object) throw new Error('there is no object to look at');
  return object as T;
}

export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion?: string;
  kind?: string;
  metadata: ListMeta;
  items: T[];
}

/** What an object is. `group` is '' for the core group. */
export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

export interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}

/** Names one object; what work queues hold. */
export interface NamespacedName {
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
}

/** The `apiVersion` of a group and version: 'apps/v1', or 'v1' in the core group. */
export const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

/** The inverse of `apiVersionOf`; a string without '/' is a version of the core group. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** What a client wrote, as upstream reads it back: an empty group goes without its slash. Undefined: it has more than one slash. */
export function readApiVersion(text: string): string | undefined {
  if (text.indexOf('/') !== text.lastIndexOf('/')) return undefined;
  const { group, version } = parseApiVersion(text);
  return text === '/' ? '' : apiVersionOf(group, version);
}

/** The key of an object in caches, which is upstream's: 'namespace/name', or 'name' without a namespace. */
export const keyOf = (meta: { namespace?: string; name?: string }): string =>
  meta.namespace ? `${meta.namespace}/${meta.name ?? ''}` : (meta.name ?? '');

export function splitKey(key: string): NamespacedName {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner that controls the object, if any. */
export const controllerOf = (meta: ObjectMeta): OwnerReference | undefined =>
  meta.ownerReferences?.find((owner) => owner.controller);

/**
 * So many seconds after a time. They count as in Go, where they are nanoseconds of 64 bits that wrap around: the result is within 292 years, whatever
 * number a client wrote.
 */
export const afterSeconds = (unixMs: number, seconds: number): number =>
  unixMs + Number(BigInt.asIntN(64, BigInt(Math.trunc(seconds)) * 1_000_000_000n) / 1_000_000n);

/** A time in RFC 3339 with whole seconds, as metav1.Time has it. */
export const formatTime = (unixMs: number): string => `${new Date(unixMs).toISOString().slice(0, -5)}Z`;

/** A time in RFC 3339 with microseconds, as metav1.MicroTime has it. */
export const formatMicroTime = (unixMs: number): string => new Date(unixMs).toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');

/** The selector as objects write it (metav1.LabelSelector). */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | (string & {});
  values?: string[];
}
