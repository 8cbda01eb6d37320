// The seams inside the apiserver: who is asking, may they, and what admission says. One request passes authentication, authorization,
// admission (mutating, then validating), validation and storage, in that order (https://kubernetes.io/docs/concepts/security/controlling-access/).
import type { Printer } from '#api';
import type { Readable, Writable } from 'node:stream';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { WireUpgrade } from '#wire';
import type { WriteContext } from './registry/generic/types.ts';
import type { Cancellation } from './request/cancellation.ts';
import type { AddAnnotation } from './request/notes.ts';
import type { Attributes, Credentials, Request, Target, UserInfo } from './request/request.ts';

export type { Attributes, Credentials, UserInfo } from './request/request.ts';
export type { AddAnnotation } from './request/notes.ts';

export interface Decision {
  allowed: boolean;
  /** Explicit deny ends the chain. */
  denied?: boolean;
  /** Shown to the user on denial, and kept for explanations. */
  reason: string;
}

/** Called with a decision before it takes effect. */
export type OnDecision = (decision: Decision) => void;

/** Called with the user a client acts as and the verb of the constrained mode that allowed it ('' for the plain one). */
export type OnImpersonation = (user: UserInfo, constraint: string) => void;

export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>;
  /** What the user may do in a namespace (SelfSubjectRulesReview). */
  rulesFor?(
    user: UserInfo,
    namespace: string,
  ): {
    resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[]; resourceNames?: string[] }[];
    nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
    incomplete: boolean;
    /** Why it is incomplete. */
    evaluationError?: string;
  };
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way in. */
export interface AdmissionRequest {
  readonly operation: Operation;
  readonly user: UserInfo;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Mutating plugins change it in place; absent for DELETE. */
  object?: (KubeObject & Record<string, unknown>) | undefined;
  /** Frozen; absent for CREATE. */
  readonly oldObject?: (KubeObject & Record<string, unknown>) | undefined;
  /** Fills the kind's defaults of an object again, after a webhook changed it. */
  readonly setDefaults?: ((object: KubeObject & Record<string, unknown>) => void) | undefined;
  /** What the object is; absent where that is not known. */
  readonly type?: AdmittedType | undefined;
  /** Set by the first mutating plugin that may have to run again. */
  reinvocation?: Reinvocation | undefined;
  /** Create/Update/Patch/DeleteOptions as sent. */
  readonly options: Record<string, unknown>;
  readonly dryRun: boolean;
  /** Ends when nobody waits for the answer any more. */
  readonly cancellation?: Cancellation | undefined;
  /** Adds a `Warning:` header to the answer. */
  readonly warn: (message: string) => void;
  /** Adds an annotation to the request's event in the audit log, for its level and those that show more (default Metadata). */
  readonly annotate?: AddAnnotation | undefined;
}

/** The type of an object on its way in, as the client names it. */
export interface AdmittedType {
  kind: { group: string; version: string; kind: string };
  schema: SchemaTable;
  typeName: string;
  /** Any JSON that fits the schema of a definition; else read by the table. */
  custom: boolean;
  /** How JSON becomes such an object; absent: by the table. */
  read?(value: unknown, strict: boolean): { object: UnknownObject; strictErrors: string[] };
  setDefaults(object: UnknownObject): void;
  /** To and from the version that admission hands on. */
  toStorage(object: UnknownObject): UnknownObject;
  fromStorage(object: UnknownObject): UnknownObject;
}

/** Whether mutating plugins run a second time over one request, and what they remember of the first. */
export interface Reinvocation {
  needed: boolean;
  /** This is the second time. */
  running: boolean;
  /** By the plugin's name. */
  memory: Map<string, unknown>;
}

/** Denies by throwing `StatusError`. Plugins read through the apiserver's own caches (`ReadOnlyCluster`), never through a client. */
export interface AdmissionPlugin {
  name: string;
  handles(operation: Operation): boolean;
  admit?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}

/** Reads of the newest committed state, from memory: what authorizers and admission plugins use. Answers are frozen. */
export interface ReadOnlyCluster {
  get<T extends KubeObject>(group: string, resource: string, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(group: string, resource: string, namespace?: string): readonly T[];
  /** Called after every committed change of the resource, with the old and new object (undefined: absent). Returns the way to stop. */
  onChange<T extends KubeObject>(
    group: string,
    resource: string,
    handler: (now: T | undefined, before: T | undefined) => void,
  ): () => void;
}

/** Who was recognised, and for which of the audiences that were asked for. */
export interface AuthenticatedUser {
  user: UserInfo;
  /** Only for tokens that name audiences. */
  audiences?: readonly string[];
}

/** One kind of credential. Undefined: "not mine". Throws when it is mine and bad: the chain goes on and answers 401 in the end. */
export interface RequestAuthenticator {
  authenticate(credentials: Credentials): AuthenticatedUser | undefined | Promise<AuthenticatedUser | undefined>;
}

/** One kind of bearer token. `audiences` are the ones the asker accepts. Undefined: "not mine". */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticatedUser | undefined | Promise<AuthenticatedUser | undefined>;
}

/** Writes of the apiserver itself: defaulted, validated and stored like any write, but neither authorized nor admitted. */
export interface ClusterWriter {
  /** Rejects with `StatusError` (409 AlreadyExists and so on). The object is taken over. */
  create<T extends KubeObject>(group: string, resource: string, object: T, options?: InternalWriteOptions): Promise<T>;
  /**
   * Reads, changes and writes again, as often as another write comes between. `change` gets the frozen object and answers the new one, or
   * undefined to leave it; it may throw. `subresource` chooses the door ('status', ...); '' bypasses none of the kind's rules. `unchecked`:
   * the kind's rules for updates do not apply (a binding sets what nobody else may).
   */
  update<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    change: (current: T) => T | undefined,
    options?: InternalWriteOptions & { subresource?: string; unchecked?: boolean },
  ): Promise<T>;
  /** Rejects with 404 when absent, 409 when a precondition fails. Answers the object as last seen. */
  delete<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    options?: InternalWriteOptions & { deleteOptions?: Record<string, unknown> },
  ): Promise<T>;
}

export interface InternalWriteOptions {
  dryRun?: boolean;
  /** Field manager to record; none: managed fields are left alone. */
  manager?: string;
}

/** A request as bytes, for the endpoints that hand a connection on (proxy, exec, attach, port-forward, logs). */
export interface RawExchange {
  method: string;
  /** Path with query, as sent. */
  target: string;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Readable;
  /** Starts the answer; may be called once. */
  respond(status: number, headers: Record<string, string | readonly string[]>): Writable;
  /** HTTP/1.1 `Upgrade:` requests; then `body` is empty and `respond` is not used. */
  upgrade?: WireUpgrade;
}

/** One request on a special endpoint: authenticated, authorized and decoded. */
export interface SpecialContext {
  request: Request;
  /** What the request names; the name is '' for endpoints without one. */
  target: Target;
  /** What follows the subresource in the path, with its leading '/', or ''. */
  subpath: string;
  query: URLSearchParams;
  /** The decoded body in the declared version, defaulted, after mutating admission; undefined where the endpoint takes none. */
  object?: UnknownObject;
  dryRun: boolean;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  /** Runs validating admission on `object`; endpoints that write call it once their own checks have passed. */
  validate(): Promise<void>;
  /** Absent in memory: endpoints that need bytes answer 405 there. */
  connection?: RawExchange | undefined;
}

/** `handled`: the endpoint answered through `connection` itself. */
export type SpecialAnswer = { status: number; object: KubeObject } | 'handled';

/**
 * An endpoint that is not the storage of a kind. The core authorizes (verb from the method, as upstream does), decodes the body, runs
 * mutating admission (CREATE with the body, or CONNECT with `connectOptions`: both admit and validate), then calls `handle`.
 */
export interface SpecialRest {
  group: string;
  version: string;
  resource: string;
  /** '' for a resource that is only a question (tokenreviews, subjectaccessreviews, ...) or a legacy one (bindings). */
  subresource: string;
  namespaced: boolean;
  /** HTTP methods served; others answer 405. */
  methods: readonly string[];
  /** The kind of the body, and of what discovery shows. */
  kind: { group: string; version: string; kind: string };
  /** Other group and versions whose bodies are read alike. */
  alsoAccepts?: readonly string[];
  /** Fills defaults of the body beyond those of the schema, in place, before its managed fields are recorded. */
  setDefaults?(object: UnknownObject): void;
  /** Set for CONNECT endpoints: the options object admission sees, made from the query. */
  connectOptions?(query: URLSearchParams, subpath: string): UnknownObject;
  /** Its columns, where it can be shown as a Table. */
  printer?: Printer<KubeObject>;
  handle(context: SpecialContext): Promise<SpecialAnswer> | SpecialAnswer;
}

/** The write that a storage hook joins; hooks of allocators only act on the main resource. */
export type HookedWrite = Pick<WriteContext, 'request' | 'target' | 'dryRun'>;

/** Called exactly once: whether the write was committed. A dry run counts as not committed. */
export type FinishWrite = (committed: boolean) => void | Promise<void>;

/** Joins the writes of one resource beside its strategy (upstream's BeginCreate/BeginUpdate/AfterDelete and storage wrappers). */
export interface StorageHook {
  group: string;
  resource: string;
  /**
   * After mutating admission, before the strategy's prepare and validation; throws `StatusError` to refuse. `old` undefined: create.
   * Objects are not changed.
   */
  check?(draft: UnknownObject, old: UnknownObject | undefined, context: HookedWrite): void | Promise<void>;
  /** Create: after `check`, before prepare and validation, so that validation sees what was filled in. May change the draft. */
  beginCreate?(draft: UnknownObject, context: HookedWrite): FinishWrite | undefined | Promise<FinishWrite | undefined>;
  /**
   * Update: after `check`, before prepare and validation, like `beginCreate` (upstream's BeginUpdate): what the client left out and the
   * server allocated before is put back here, so that validation does not take it for a change. May change the draft.
   */
  beginUpdate?(
    draft: UnknownObject,
    old: UnknownObject,
    context: HookedWrite,
  ): FinishWrite | undefined | Promise<FinishWrite | undefined>;
  /** After the object is really gone (not merely marked as terminating). */
  afterDelete?(old: UnknownObject, context: HookedWrite): void | Promise<void>;
}

/** Done once when the apiserver starts, before it reports ready (upstream's PostStartHook). */
export interface StartHook {
  /** Shown as the health check `poststarthook/<name>`. */
  name: string;
  /** Name of the earlier hook whose work this one needs. Default: the one before it in the list. */
  after?: string;
  run(cluster: ReadOnlyCluster, writer: ClusterWriter, signal: AbortSignal): Promise<void>;
}

/** A document at a path of its own. */
export interface PublishedDocument {
  /** Media type. */
  type: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}
