// The seams inside the apiserver: who is asking, may they, and what admission says. One request passes authentication, authorization,
// admission (mutating, then validating), validation and storage, in that order (https://kubernetes.io/docs/concepts/security/controlling-access/).
import type { KubeObject } from '#apimachinery/meta';
import type { WireRequest } from '#wire';

export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** Undefined: "not mine, ask the next". Throws `StatusError` 401 for a credential that is mine and bad. */
export type Authenticator = (request: WireRequest) => Promise<UserInfo | undefined> | UserInfo | undefined;

/** What is being asked (authorization.k8s.io attributes). */
export interface Attributes {
  user: UserInfo;
  verb: string;
  /** For resource requests. '' group is core. */
  resource?: { group: string; version: string; resource: string; subresource: string; namespace: string; name: string };
  /** For non-resource requests. */
  path?: string;
  fieldSelector?: string;
  labelSelector?: string;
}

export interface Decision {
  allowed: boolean;
  /** Explicit deny ends the chain. */
  denied?: boolean;
  /** Shown to the user on denial, and kept for explanations. */
  reason: string;
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>;
  /** What the user may do in a namespace (SelfSubjectRulesReview). */
  rulesFor?(user: UserInfo, namespace: string): {
    resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[]; resourceNames?: string[] }[];
    nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
    incomplete: boolean;
  };
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way in. */
export interface AdmissionRequest {
  operation: Operation;
  user: UserInfo;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  kind: string;
  namespace: string;
  name: string;
  /** Mutating plugins change it in place; absent for DELETE. */
  object?: KubeObject & Record<string, unknown>;
  /** Frozen; absent for CREATE. */
  oldObject?: KubeObject & Record<string, unknown>;
  /** Create/Update/Patch/DeleteOptions as sent. */
  options: Record<string, unknown>;
  dryRun: boolean;
  /** Adds a `Warning:` header to the answer. */
  warn(message: string): void;
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
  onChange<T extends KubeObject>(group: string, resource: string, handler: (now: T | undefined, before: T | undefined) => void): () => void;
}
