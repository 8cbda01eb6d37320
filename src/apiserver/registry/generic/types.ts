// One served resource as the registry works with it, and one request on it. Everything particular to a kind comes from its definition;
// nothing in this folder knows a kind by name (design: "Kind"; upstream: k8s.io/apiserver/pkg/registry/generic).
import type { KindDefinition, KindSettings, WriteStrategy } from '#api';
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import type { FieldManager } from '#apimachinery/managedfields';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { AdmissionRequest } from './admission.ts';
import type { StorageHook } from './storage-hook.ts';
import type { Request, Target } from '../../request/request.ts';
import type { CacheEvent } from '../../storage/event.ts';
import type { ResourceStorage } from '../../storage/resource-storage.ts';
import type { StoredObject } from '../../storage/stored-object.ts';

export interface GroupVersionKindName {
  group: string;
  version: string;
  kind: string;
}

/** One way to write the stored object: the resource itself ('') or a subresource that shows the same kind. */
export interface Door {
  subresource: string;
  strategy: WriteStrategy<KubeObject>;
  fieldManager: FieldManager;
  /** Whether POST makes a new object here (only the main door). */
  creates: boolean;
}

export interface SubresourceInfo {
  name: string;
  kind: GroupVersionKindName;
  verbs: ReadonlySet<string>;
}

/** What decoding makes of a request body. */
export interface Decoded {
  object: UnknownObject;
  /** Strict decoding failures, in upstream's words. */
  strictErrors: string[];
  /** Why the object is refused although it was read; its strict failures become warnings first. */
  refusal?: Error;
}

/**
 * A custom resource with several versions, seen in one of them: the registry works in this version, and what is stored is converted. All
 * reject with `StatusError` 500 when a conversion fails.
 */
export interface VersionViews {
  /** The entries in this version, in order; one request for all that are not known yet. */
  of(entries: readonly StoredObject[]): Promise<StoredObject[]>;
  one(entry: StoredObject): Promise<StoredObject>;
  /** The change as this version shows it; with the state before it only where that is asked for, or all there is. */
  event(event: CacheEvent, withPrevious: boolean): Promise<CacheEvent>;
  /** A private copy of an object in another version, without what that version's schema does not have. */
  convert(object: UnknownObject, apiVersion: string): Promise<UnknownObject>;
  /** An object of this version in the version that is stored. */
  encode(object: UnknownObject): Promise<UnknownObject>;
  /** Runs bookkeeping that needs objects in other versions, again until all are there. */
  answering<T>(work: () => T | Promise<T>): Promise<T>;
}

/** One resource in one served version. */
export interface ServedResource {
  group: string;
  version: string;
  resource: string;
  kind: string;
  listKind: string;
  singularName: string;
  namespaced: boolean;
  verbs: ReadonlySet<string>;
  shortNames: readonly string[];
  categories: readonly string[];
  storageVersionHash?: string;
  subresources: ReadonlyMap<string, SubresourceInfo>;
  storage: ResourceStorage;
  /** The version objects are stored in. */
  storageVersion: string;
  storageGroup: string;
  definition: KindDefinition<KubeObject>;
  schema: SchemaTable;
  typeName: string;
  doors: ReadonlyMap<string, Door>;
  /** Filled once the parts that bring them are made. */
  hooks: StorageHook[];
  /** Custom resources: metadata is checked, the rest by its schema. */
  custom: boolean;
  /** Custom resources: whether the object calls itself the definition's kind, in one of its versions. */
  isOwn?(object: UnknownObject): boolean;
  /** Custom resources: whether their definition is being deleted, so that nothing new is made. */
  isClosing?(): boolean;
  /** For a custom resource: the schema of its version as its definition has it, for OpenAPI. */
  published?: JSONSchemaProps;
  /** What every request on this version of a custom resource is warned of. */
  deprecation?: string;
  /**
   * How JSON becomes an object of this resource; absent: by the schema table. `apiVersion`: as what it is read. `nulls`: what was applied keeps
   * those that its schema does not allow, and is refused for them.
   */
  read?(value: unknown, strict: boolean, apiVersion?: string, nulls?: 'kept' | 'dropped'): Decoded;
  /** Fills defaults of schema and kind, in place; `object` is of this version. */
  setDefaults(object: UnknownObject): void;
  toStorage(object: UnknownObject): UnknownObject;
  fromStorage(object: UnknownObject): UnknownObject;
  /** A fresh object of the storage version in the form it is written in: fields in order, empty ones dropped. */
  canonical(object: UnknownObject): UnknownObject;
  /** Only where stored objects may be of another version than this, or lack what its schema fills in. */
  versions?: VersionViews;
}

/** What writes are admitted and made with: one value for the whole server. */
export interface WriteSettings {
  admission: AdmissionChain;
  random: Randomness;
  kinds: KindSettings;
  /** All resources that serve the objects of one, itself among them. */
  siblings(resource: ServedResource): readonly ServedResource[];
  /** Waited for between the steps of a write: where this turn of the event loop has become old, others go on first. */
  rest(): Promise<void> | undefined;
}

/** A write of an authorized request on the resource that it names. */
export interface WriteContext {
  request: Request;
  resource: ServedResource;
  /** The object that is written: one of many where a collection is deleted. Its namespace is '' for cluster-scoped resources. */
  target: Target;
  dryRun: boolean;
  /** The field manager that is named, or what the user agent gives; '' leaves managed fields alone. */
  manager: string;
  /** The options as they were sent, for admission. */
  options: Record<string, unknown>;
  settings: WriteSettings;
  /** The kind's rules are passed over: the caller changes what no client may. */
  unchecked?: boolean;
}

/** Both phases of admission; they throw, or reject with, `StatusError` to refuse. */
export interface AdmissionChain {
  admit(request: AdmissionRequest): Promise<void> | undefined;
  validate(request: AdmissionRequest): Promise<void> | undefined;
}

export interface Randomness {
  uuid(): string;
  /** Five characters of upstream's safe alphabet. */
  suffix(): string;
  /** From 0 up to, not including, 1. */
  fraction(): number;
}

export const apiVersionText = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;
