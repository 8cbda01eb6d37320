// What every endpoint works with: one value made when the server is built.
import type { Metrics, VersionInfo } from '#component-base';
import type { SchemaTable } from '#apimachinery/schema';
import type { Clock, Logger } from '#utils';
import type { Aggregator } from './aggregation/index.ts';
import type { AuditTrail } from './audit/index.ts';
import type { StoreFeed } from './cache/store-feed.ts';
import type {
  Attributes,
  ClusterWriter,
  CredentialSource,
  OnDecision,
  OnImpersonation,
  ReadOnlyCluster,
  SpecialRest,
  UserInfo,
} from './contracts.ts';
import type { Executor } from './endpoints/execute.ts';
import type { ObservedRequest } from './request-metrics.ts';
import type { Randomness } from './registry/generic/types.ts';
import type { ResourceTable } from './resources.ts';

export interface ServerContext {
  clock: Clock;
  logger: Logger;
  random: Randomness;
  schema: SchemaTable;
  feed: StoreFeed;
  table: ResourceTable;
  executor: Executor;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  metrics: Metrics;
  version: VersionInfo;
  /** Running watches, to be ended when the server closes. */
  watches: { add(end: () => void): () => void };
  /** Undefined: there are no other API servers. */
  aggregator: Aggregator | undefined;
  /** `host:port` shown by legacy discovery. */
  address(): string;
  special(group: string, version: string, resource: string, subresource: string): SpecialRest | undefined;
  /** Rejects with 401. */
  authenticate(source: CredentialSource): Promise<UserInfo> | UserInfo;
  /** The user the client wants to act as, if it asks for one. Rejects with 400 or 403. */
  impersonate(
    source: CredentialSource,
    asked: Attributes,
    learn?: OnImpersonation,
  ): Promise<UserInfo | undefined> | UserInfo | undefined;
  /** Rejects with 403. */
  authorize(asked: Attributes, learn?: OnDecision): Promise<void> | void;
  /** Undefined: requests are not recorded. */
  audit: AuditTrail | undefined;
  /** A path served in memory, for an identity that is known already. */
  serveRaw(
    user: UserInfo,
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; text: string }>;
  observeRequest(request: ObservedRequest): void;
  /** Bound of requests that are not long-running (--request-timeout). */
  requestTimeoutMs: number;
  /** Shortest life of a watch that names none (--min-request-timeout). */
  watchTimeoutMinMs: number;
}
