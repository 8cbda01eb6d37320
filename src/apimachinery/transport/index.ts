// How a component speaks to an apiserver, whichever way the bytes go (design: "Direct and wire").
// `#client` implements it over TLS against any Kubernetes; `#apiserver` implements it in memory with the same authentication identity,
// authorization and admission, handing over frozen objects. Neither imports the other.
import type { KubeObject } from '../meta/index.ts';
import type { WatchEvent } from '../watch/index.ts';

export type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

/** Request parameters, named as in the query string (metav1.ListOptions, GetOptions, CreateOptions, ...). */
export interface CallOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  limit?: number;
  continue?: string;
  dryRun?: boolean;
  fieldManager?: string;
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** Server-side apply: take over fields owned by others. */
  force?: boolean;
}

/** The options of a deletion (metav1.DeleteOptions). */
export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

/** One request on a resource, for whatever carries it to an apiserver. */
export interface ApiCall {
  verb: Verb;
  group: string;
  version: string;
  /** Plural, lower case: 'pods'. */
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  /** create, update. The transport takes ownership: never mutate it afterwards. */
  object?: unknown;
  patch?: { type: PatchType; body: unknown };
  deleteOptions?: DeleteOptions;
  options?: CallOptions;
}

export interface WatchCall {
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  options?: CallOptions & { allowWatchBookmarks?: boolean; sendInitialEvents?: boolean; timeoutSeconds?: number };
}

/** The events of one running watch. */
export interface WatchStream<T extends KubeObject = KubeObject> {
  /**
   * Calls `handler` once per event, in revision order; `end` exactly once when the stream is over (`error` is set unless it ended by
   * timeout or `stop`). A 410 arrives as an ERROR event or as `error`; the consumer re-lists.
   */
  subscribe(handler: (event: WatchEvent<T>) => void, end: (error?: Error) => void): void;
  stop(): void;
}

/** One identity's connection to an apiserver. Answers are frozen. */
export interface Transport {
  /** Rejects with `StatusError` for every answer that is not 2xx, and with another Error when no answer came. */
  call<T = KubeObject>(call: ApiCall, signal?: AbortSignal): Promise<T>;
  /** Resolves when the server has accepted the watch; rejects like `call`. */
  watch<T extends KubeObject = KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>>;
  /** A raw path: discovery, health, version, OpenAPI, non-resource URLs. The body is text. */
  raw(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<{ status: number; text: string }>;
  close(): void;
}

export { eventReader, failureOf } from './answers.ts';
export { callBody, callPath, httpMethod, watchPath } from './request-path.ts';
