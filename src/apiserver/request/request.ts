// One request as the whole apiserver sees it, whichever way it came. What it asks is plain data that another thread or process could read
// (`RequestData`); what only works in this process stands beside it (`Request`).
import type { Cancellation } from './cancellation.ts';
import type { Notes } from './notes.ts';

export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** The resource that a request names. The core group is ''. */
export interface Target {
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  /** '' for collections. */
  name: string;
}

/** What is asked, as authorizers and the audit policy see it (authorization.k8s.io attributes). A request is one; so is a review of access. */
export interface Attributes {
  user: UserInfo;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  verb: string;
  /** Absent: `path` is asked for. */
  target?: Target | undefined;
  /** Without its query. */
  path?: string;
  options?: Pick<RequestOptions, 'fieldSelector' | 'labelSelector'>;
}

/** The options of a request (metav1.ListOptions, CreateOptions, DeleteOptions, ...). */
export interface RequestOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  limit?: number;
  continue?: string;
  watch?: boolean;
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
  dryRun?: readonly string[];
  fieldManager?: string;
  fieldValidation?: string;
  /** Server-side apply: takes over fields owned by others. */
  force?: boolean;
  gracePeriodSeconds?: number;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  /** Preconditions of a DELETE without a body. */
  uid?: string;
  /** The client's own bound on the request: a Go duration. */
  timeout?: string;
  /** Of a GET, once: no longer supported. */
  export?: string;
  /** What is wrong with the text of a number, by its parameter. */
  problems?: Readonly<Record<string, string>>;
}

export const noOptions: RequestOptions = Object.freeze({});

/** Names are lower case; the lines of a repeated header stay apart. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What carries an identity: all that authenticators look at. */
export interface Credentials {
  method: string;
  path: string;
  headers: Headers;
  /** The client's certificate chain in DER, leaf first, as presented: TLS did not verify it. */
  peerCertificates?: readonly Uint8Array[] | undefined;
  /** Takes warnings about the credentials; absent where nobody would read them. */
  readonly notes?: Pick<Notes, 'warn'>;
}

/** `received`: nobody knows who asks. `identified`: the user is known. `authorized`: the user may do what they ask for. */
export type RequestProgress = 'received' | 'identified' | 'authorized';

export interface RequestData extends Attributes, Credentials {
  /** Over a connection, or in the memory of this process by a component of it. */
  via: 'wire' | 'memory';
  path: string;
  options: RequestOptions;
  auditId: string;
  /** The path with its query, as sent. */
  uri: string;
  /** The query alone, for endpoints whose options nobody else knows (exec, proxies). */
  query: string;
  /** Segments of the path from the resource on; none where no path was read. */
  segments: readonly string[];
  /** When it came, in milliseconds since the epoch: "now" for every rule. */
  now: number;
  remoteAddress: string;
  userAgent: string;
  progress: RequestProgress;
}

export interface Request extends RequestData {
  /** Ends when whoever asked is gone, or the time for the request is over. */
  readonly cancellation: Cancellation;
  readonly notes: Notes;
}

/** The part of a request that survives `structuredClone`. */
export function dataOf(request: RequestData): RequestData {
  const { user, verb, target, path, method, headers, peerCertificates, via, auditId, uri, query } = request;
  const { segments, options, now, remoteAddress, userAgent, progress } = request;
  return {
    ...{ user, verb, target, path, method, headers, via, auditId, uri, query },
    ...{ segments, options, now, remoteAddress, userAgent, progress },
    ...(peerCertificates && { peerCertificates }),
  };
}

const longRunningSubresources = new Set(['exec', 'attach', 'portforward', 'log', 'proxy']);

/** Watches and streams take no seat and have no deadline. */
export const isLongRunning = ({ target, verb }: Attributes): boolean =>
  target !== undefined && (verb === 'watch' || longRunningSubresources.has(target.subresource));
