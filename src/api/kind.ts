// The contract of one kind (design: "Kind"). Everything known about a kind is declared in its folder `src/api/<group>/<kind>/` with
// `defineKind`; shared code reads the declaration and never asks "is it a Pod?". A custom resource is the same shape made from its CRD.
// Names, scope, short names and served versions are facts: they come from `builtinResources()`, not from here.
import type { FieldError } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';

/** What a rule may know besides the object. */
export interface KindContext {
  /** Milliseconds since the epoch: "now" for every rule of one request. */
  now: number;
  /** Names the subresource written to; '' for the main resource. */
  subresource: string;
  /** apiVersion of the request, where it is not the storage version: the few kinds whose rules depend on it (events). */
  requestVersion?: string;
  /** What the server is set to. Absent in tests of single rules. */
  settings?: KindSettings;
  /** The user's name, groups and uid, for the few kinds that record them (certificate signing requests). */
  user?: { name: string; uid?: string; groups: string[]; extra?: Record<string, string[]> };
  /** Failures of the metadata, when the whole object is validated. */
  metadataErrors?: readonly FieldError[];
}

/** Settings of the whole server that the rules of a kind depend on; made once, when the server is put together. */
export interface KindSettings {
  /** kube-apiserver's --allow-privileged: whether pods may hold privileged containers. */
  allowPrivileged: boolean;
  /** kube-apiserver's --event-ttl. */
  eventTtlSeconds: number;
  /** Readers of X.509, which pure code cannot decode itself. */
  certificates: CertificateReaders;
}

/** Each reads PEM in base64, and answers why the text is not valid; undefined: it is valid. */
export interface CertificateReaders {
  requestProblem(request: string): string | undefined;
  certificatesProblem(certificates: string): string | undefined;
}

/**
 * How often upstream's rules of a kind check the metadata of a changed object, beyond the registry's own check: what changed, all of it (once or
 * twice), both, or not at all. Clients see the same failure as often.
 */
export type MetadataRules = 'change' | 'whole' | 'twice' | 'both' | 'none';

/** What discovery says of a kind that the generated table of resources does not list. */
export interface OwnResource {
  /** Plural, without the subresource. */
  resource: string;
  singularName: string;
  namespaced: boolean;
  shortNames?: string[];
  categories?: string[];
  /** Whether there is a subresource `status`. */
  hasStatus?: boolean;
}

/** A column of `kubectl get` (metav1.TableColumnDefinition). */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  /** 0: always shown; 1: only with `-o wide`. */
  priority?: number;
  description?: string;
}

export interface RowCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** Columns after upstream's printers (pkg/printers/internalversion). */
export interface Printer<T extends KubeObject> {
  columns: Column[];
  /** One row's cells, in column order. `now` is for ages. */
  cells(object: T, now: number): (string | number | boolean | null)[];
  /** The order of a table's rows, where it is not the list's. */
  order?(one: T, other: T): number;
  /** Conditions of the row (metav1.TableRowCondition). */
  conditions?(object: T): RowCondition[];
}

/** How writes through one door (main resource or a subresource such as `status`) are treated. Drafts are private copies: mutate them. */
export interface WriteStrategy<T extends KubeObject> {
  /** Drops what a client may not set here, fills what the server sets. Runs after defaulting, before validation. */
  prepareForCreate?(draft: T, context: KindContext): void;
  prepareForUpdate?(draft: T, old: T, context: KindContext): void;
  /** Whole-object rules; metadata is validated by the registry with `validateName`. */
  validate?(object: T, context: KindContext): FieldError[];
  validateUpdate?(object: T, old: T, context: KindContext): FieldError[];
  /** `Warning:` headers. */
  warnings?(object: T, old: T | undefined): string[];
  /** Field paths a manager cannot own through this door (upstream's GetResetFields), e.g. ['status'] or ['spec', 'metadata']. */
  resetFields?: string[][];
  /** False: upstream answers a wish for a table with 406 at this door. */
  tables?: false;
}

export interface ScaleMapping<T extends KubeObject> {
  /** How many replicas the object asks for; undefined where a custom resource lacks the number that its definition names. */
  specReplicas(object: T): number | undefined;
  setSpecReplicas(draft: T, replicas: number): void;
  /** Where the number is kept; absent: spec.replicas. */
  specReplicasPath?: readonly string[];
  /** The same of every version of a custom resource, by its apiVersion; undefined where the version has no scale. */
  replicasPaths?: ReadonlyMap<string, readonly string[] | undefined>;
  statusReplicas(object: T): number;
  /** Selector in string form, for scale.status.selector. */
  selector(object: T): string;
}

export interface KindDefinition<T extends KubeObject = KubeObject> extends WriteStrategy<T> {
  /** '' for core. */
  group: string;
  /** Storage version, and the one whose types `T` describes. */
  version: string;
  kind: string;
  /** How it is served, where it is not in the table of what a default apiserver serves (`resources.gen.json`). Its types are in the schema table. */
  resource?: OwnResource;
  /** Other groups that serve the same objects. */
  otherGroups?: readonly string[];
  /** Default `both`. */
  metadataRules?: MetadataRules;
  /** False: upstream's rules of the kind know nothing of Kubernetes' own finalizers, so any name goes. */
  kubeFinalizers?: false;
  /** How long an object lives after its last write. Absent: until it is deleted. */
  ttlSeconds?(settings: KindSettings): number;
  /** The selectable field that watch and list keep an index of. */
  indexedBy?: string;
  /** Fills defaults beyond those marked in the schema. Idempotent. */
  defaults?(draft: T): void;
  /** Name rule; returns messages without path. Default: DNS-1123 subdomain. */
  validateName?(name: string, prefix: boolean): string[];
  /** False: the kind has no rules for the metadata of a new object, which is looked at only when everything else is right. */
  validatesMetadata?: false;
  /** Bumps `metadata.generation` when this part changed; default: everything but metadata and status, if the kind has a `spec`. */
  generation?: false | ((object: T) => unknown);
  /** Generations count changes only: a new object keeps the one that it was sent with. */
  newWithoutGeneration?: true;
  /** The `status` door; absent: the registry's default (spec is kept from the old object, status is taken from the new one). */
  status?: WriteStrategy<T>;
  /** Further doors that write the same object, e.g. pods/ephemeralcontainers, pods/resize, certificatesigningrequests/approval. */
  doors?: Record<string, WriteStrategy<T>>;
  scale?: ScaleMapping<T>;
  printer?: Printer<T>;
  /** Annotations that hold what a served version has no field for: metadata shown alone goes without them. */
  fieldAnnotations?: readonly string[];
  /** Field selector values besides metadata.name and metadata.namespace. */
  selectableFields?(object: T): Record<string, string>;
  /** Names that selectable fields had once, to those that they have now. */
  elderFieldLabels?: Readonly<Record<string, string>>;
  /** What is said of a field that is not selectable, where upstream's words differ. */
  unknownFieldText?(field: string): string;
  /** PUT to an absent object creates it. */
  allowCreateOnUpdate?: boolean;
  /** PUT without resourceVersion is accepted. Default true. */
  allowUnconditionalUpdate?: boolean;
  /** What a DELETE means for this kind. */
  deletion?: {
    /** Seconds of grace to set for a graceful delete, or undefined to delete at once (upstream's RESTGracefulDeleteStrategy). */
    gracePeriodSeconds?(object: T, requested: number | undefined): number | undefined;
    /** Default propagation when the client names none. Default: Background. None: such objects have no dependents, whatever the client names. */
    defaultPropagation?: 'Orphan' | 'Background' | 'None';
    /** `Warning:` to a client that names no propagation. */
    defaultPropagationWarning?: string;
    /** Finalizers besides metadata.finalizers that hold a deleted object back (spec.finalizers of a namespace). */
    ownFinalizers?(object: T): readonly string[];
    /** The first DELETE marks the object whatever it says of dependents. Default: false. */
    ignoresPropagation?: boolean;
    /** Marks a draft as terminating beyond its metadata (status.phase of a namespace). */
    markTerminating?(draft: T): void;
    /** DELETE answers with the object instead of a Status. */
    returnsObject?: boolean;
    /** Upstream's documents of the API name a Status as the answer, though DELETE answers with the object. */
    documentsStatus?: boolean;
  };
  /** Other served versions: conversion to and from the storage version (`T`). */
  conversions?: Record<string, VersionConversion<T>>;
}

export interface VersionConversion<T extends KubeObject> {
  toStorage(object: KubeObject): T;
  fromStorage(object: T): KubeObject;
  /** Names of selectable fields in this version, to those of `selectableFields`; others are refused. Absent: the same names. */
  fieldLabels?: Readonly<Record<string, string>>;
}

/** Declares a kind. It does nothing at run time: it lets the compiler check the definition. */
export function defineKind<T extends KubeObject>(definition: KindDefinition<T>): KindDefinition<T> {
  return definition;
}
