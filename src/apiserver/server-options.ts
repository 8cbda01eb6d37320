// What an apiserver is made from, and what it gives.
import type { KindDefinition } from '#api';
import type { KubeObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import type { FlagTexts, HealthCheck, Metrics } from '#component-base';
import type { Store } from '#store';
import type { Clock, Logger, Rng } from '#utils';
import type { WireRequest, WireResponse, WireUpgrade } from '#wire';
import type { Aggregator } from './aggregation/index.ts';
import type { AuditTrail } from './audit/index.ts';
import type { Authorizer } from './authorization/types.ts';
import type { Refusal } from './chain/refusals.ts';
import type { Gather } from './decisions/index.ts';
import type { PublishedDocument } from './endpoints/published-document.ts';
import type { WebhookReach } from './outbound/webhook-client.ts';
import type { AdmissionChain } from './registry/generic/types.ts';
import type { StorageHook } from './registry/generic/storage-hook.ts';
import type { SpecialRest } from './registry/special.ts';
import type { StartHook } from './registry/start-hook.ts';
import type { VirtualGroup } from './registry/virtual-group.ts';
import type { ClusterWriter } from './registry/writer.ts';
import type { Attributes, Credentials, UserInfo } from './request/request.ts';
import type { ServerSettings } from './settings.ts';
import type { ReadOnlyCluster } from './storage/read-only-cluster.ts';

/** The parts that decide who may do what, made once the cluster can be read. All optional: without them everyone may do everything. */
export interface ApiServerParts {
  authenticate?(credentials: Credentials): Promise<UserInfo> | UserInfo;
  authorizer?: Authorizer;
  /** It is called with what the authorizer has allowed, and rejects with what is answered instead. */
  onAllowed?(asked: Attributes): Promise<void>;
  admission?: AdmissionChain;
  special?: readonly SpecialRest[];
  /** Group versions without storage. */
  virtual?: readonly VirtualGroup[];
  /** Documents at paths of their own. */
  documents?: ReadonlyMap<string, () => PublishedDocument>;
  /** What components decided about an object, by a query of /debug/decisions; absent: there is no such path. */
  decisions?: Gather;
  hooks?: readonly StorageHook[];
  startHooks?: readonly StartHook[];
  /** How conversion webhooks are reached; default: by cluster IP, from this process. */
  webhooks?: WebhookReach;
  /** Hands requests on to other API servers; its hooks run after the others. */
  aggregator?: Aggregator;
  /** Takes this server out of what others find it by, before it closes. */
  leave?(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void>;
  /** Ends what the parts keep open. */
  close?(): void;
}

export interface PartsInput {
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  /** For what is no object; objects go through the two above. */
  store: Store;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  /** The requests that were refused last, the newest first. */
  refusals(): Refusal[];
}

export interface ApiServerOptions {
  store: Store;
  clock: Clock;
  rng: Rng;
  logger?: Logger;
  metrics?: Metrics;
  /** Default: the built-in kinds. */
  kinds?: readonly KindDefinition<KubeObject>[];
  /** Records requests; left open. */
  audit?: AuditTrail | undefined;
  parts?(input: PartsInput): ApiServerParts | Promise<ApiServerParts>;
  /** Those that are not the flags' defaults. */
  settings?: Partial<ServerSettings>;
  /** Freezes objects all the way down, to find writers to shared state. Default false. */
  deepFreeze?: boolean;
  /** Reads the file of field descriptions; undefined: there is none. */
  descriptions?(): Promise<string | undefined>;
  /** Whether what is stored under a key is to be written again although it did not change (encryption). */
  isStale?(key: string): boolean;
  /** Health checks beside the server's own, of `/healthz` and `/readyz`. */
  checks?: readonly HealthCheck[];
  /** `host:port` shown by legacy discovery. */
  address?(): string;
  /** Says which built-in versions are served; default: all. */
  isServed?(group: string, version: string): boolean;
  /** Checks of components beside this server, for `/readyz`. */
  components?: () => readonly HealthCheck[];
  /** What /flagz shows; left out: there is no /flagz. */
  flags?(): FlagTexts | Promise<FlagTexts>;
  /** Start hooks wait for `start`; otherwise they run at once. */
  holdStart?: boolean;
}

export interface ApiServer {
  /** One HTTP request; never rejects. */
  handle(request: WireRequest, response: WireResponse): Promise<void>;
  /** A request to speak another protocol (exec, attach, port-forward), which is answered by `response` where it is not switched to; never rejects. */
  upgrade(upgrade: WireUpgrade, response: WireResponse): Promise<void>;
  /** Lets held start hooks run; later calls do nothing. */
  start(): void;
  /** In-process access as `user`; `userAgent` names its field manager. */
  transport(user: UserInfo, userAgent?: string): Transport;
  readonly cluster: ReadOnlyCluster;
  readonly writer: ClusterWriter;
  readonly metrics: Metrics;
  /** The requests that were refused last, the newest first. */
  refusals(): Refusal[];
  /** Resolves when every start hook has run; rejects with the first failure. */
  readonly started: Promise<void>;
  /** Resolves, with the reason, when the server cannot go on: its store has stopped, or a start hook failed for good. */
  readonly failed: Promise<Error>;
  /** Whether `/readyz` would say ok. */
  ready(): Promise<boolean>;
  /** From now on `/readyz` fails, so that nobody sends more. */
  leave(): void;
  /** Ends watches and lets go of the store, which stays open. */
  close(): Promise<void>;
}
