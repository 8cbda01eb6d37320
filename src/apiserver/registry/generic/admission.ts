// The contract between the registry and admission plugins: one write as a plugin sees it, and the functions that a plugin offers
// (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/).
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { SchemaTable } from '#apimachinery/schema';
import type { Cancellation } from '../../request/cancellation.ts';
import type { AddAnnotation } from '../../request/notes.ts';
import type { UserInfo } from '../../request/request.ts';

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
  /** What the object is; absent where that is not known. */
  readonly type?: AdmittedType | undefined;
  /** The other resources that the same objects are served as; absent where nobody knows them. */
  readonly equivalents?: readonly EquivalentResource[];
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
  /** A pause in which others go on, where there may be one. */
  readonly rest?: (() => Promise<void> | undefined) | undefined;
  /** Called with the time for which the request waited for a webhook. */
  readonly onAway?: ((ms: number) => void) | undefined;
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
  /** Converts from the version that admission hands on to the one that is stored. */
  toStorage(object: UnknownObject): UnknownObject;
  fromStorage(object: UnknownObject): UnknownObject;
}

/** Another resource that serves the objects of a request: another version, or another group with the same storage. */
export interface EquivalentResource {
  group: string;
  version: string;
  resource: string;
  type: AdmittedType;
  /** An object of the request as this resource shows it, and back; both reject with `StatusError` where a webhook cannot convert it. */
  from(object: UnknownObject): UnknownObject | Promise<UnknownObject>;
  to(object: UnknownObject): UnknownObject | Promise<UnknownObject>;
}

/** Whether mutating plugins run a second time over one request, and what they remember of the first. */
export interface Reinvocation {
  needed: boolean;
  /** This is the second time. */
  running: boolean;
  /** What each plugin remembers of the first run, by the plugin's name. */
  memory: Map<string, unknown>;
}

/** Denies by throwing `StatusError`. Plugins read through the apiserver's own caches (`ReadOnlyCluster`), never through a client. */
export interface AdmissionPlugin {
  name: string;
  handles(operation: Operation): boolean;
  admit?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}
