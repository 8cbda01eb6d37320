// Endpoints that are not the storage of a kind: reviews, bindings, evictions, proxies (k8s.io/apiserver/pkg/registry/rest, Creater and Connecter).
import type { Readable, Writable } from '../platform/streams.ts';
import type { Printer } from '#api';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { WireUpgrade } from '#wire';
import type { Request, Target } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { ClusterWriter } from './writer.ts';

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
  /** The decoded body in the declared version, defaulted, after mutating admission; undefined where the endpoint takes no body. */
  object?: UnknownObject;
  dryRun: boolean;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  /** Runs validating admission on `object`; endpoints that write call it once their own checks have passed. */
  validate(): Promise<void>;
  /** Absent in memory: endpoints that need bytes answer 405 there. */
  connection?: RawExchange | undefined;
}

/** The answer of a special endpoint, or `handled` where it has answered through `connection` itself. */
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
  /** Whether a namespaced one can be read across namespaces. */
  everywhere?: boolean;
  /** Whether there is no protobuf of its kind. */
  jsonOnly?: boolean;
  /** Its columns, where it can be shown as a Table. */
  printer?: Printer<KubeObject>;
  handle(context: SpecialContext): Promise<SpecialAnswer> | SpecialAnswer;
}
