// Puts the apiserver together: caches over the store, the resource table, the handler chain, and the two ways in (HTTP and direct).
import { setMaxListeners } from 'node:events';
import { builtinGroups, builtinKinds, builtinResources, builtinSchema, type KindDefinition } from '#api';

import type { KubeObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { createTurnstile, createTurns } from '#host';
import { createMetrics, type HealthCheck, type Metrics, versionInfo } from '#component-base';
import type { Store } from '#store';
import { type Clock, type Logger, type Rng, silentLogger } from '#utils';
import type { WireRequest, WireResponse, WireUpgrade } from '#wire';
import type { Aggregator } from './aggregation/index.ts';
import type { AuditTrail } from './audit/index.ts';
import { StoreFeed } from './storage/store-feed.ts';
import { createCluster, createWriter } from './registry/cluster.ts';
import type { OnDecision, OnImpersonation } from './authorization/types.ts';
import type { PublishedDocument } from './endpoints/published-document.ts';
import type { StorageHook } from './registry/generic/storage-hook.ts';
import type { SpecialRest } from './registry/special.ts';
import type { StartHook } from './registry/start-hook.ts';
import type { ClusterWriter } from './registry/writer.ts';
import type { Attributes, Credentials, UserInfo } from './request/request.ts';
import type { ReadOnlyCluster } from './storage/read-only-cluster.ts';
import { createMemoryTransport } from './adapters/memory.ts';
import { ownDomain } from './adapters/own-domain.ts';
import { upgradeExchange } from './adapters/upgrade.ts';
import { wireIncoming } from './adapters/wire.ts';
import { createChain, type Next } from './chain/chain.ts';
import { boundedSeats } from './chain/links/limit.ts';
import { fromFacts } from './endpoints/discovery.ts';
import { createHealthChecks, type HealthChecks } from './endpoints/health.ts';
import { createRoute } from './endpoints/route.ts';
import { createOpenApi } from './endpoints/openapi/serve.ts';
import {
  compactionIntervalMs,
  eventTtlSeconds,
  mutatingRequestsInFlightMax,
  requestsInFlightMax,
  requestTimeoutMs,
  watchTimeoutMinMs,
} from './limits.ts';
import { builtinServed } from './registry/builtin.ts';
import type { VirtualGroup } from './registry/virtual-group.ts';
import { componentStatusEndpoint } from './registry/component-status.ts';
import type { AdmissionChain, Randomness } from './registry/generic/types.ts';
import { requestMetrics } from './chain/request-metrics.ts';
import { ResourceTable } from './registry/resource-table.ts';
import type { ServerContext } from './endpoints/context.ts';
import { ending, leaveInTime, runStartHooks } from './start-hooks.ts';
import { createStorages, type Storages } from './storage/storages.ts';
import { withCleanUp } from './apiextensions/definition-deletion.ts';
import { converterFactory } from './apiextensions/conversion/converter.ts';
import { serveDefinitions } from './apiextensions/serve-definitions.ts';
import { byClusterIp } from './outbound/service-resolver.ts';
import { startCompactor } from './storage/compactor.ts';
import { WebhookClients, type WebhookReach } from './outbound/webhook-client.ts';

/** The parts that decide who may do what, made once the cluster can be read. All optional: without them everyone may do everything. */
export interface ApiServerParts {
  authenticate?(credentials: Credentials): Promise<UserInfo> | UserInfo;
  impersonate?(
    credentials: Credentials,
    asked: Attributes,
    onImpersonation?: OnImpersonation,
  ): Promise<UserInfo | undefined> | UserInfo | undefined;
  /** Rejects with 403. */
  authorize?(asked: Attributes, onDecision?: OnDecision): Promise<void> | void;
  admission?: AdmissionChain;
  special?: readonly SpecialRest[];
  /** Group versions without storage. */
  virtual?: readonly VirtualGroup[];
  /** Documents at paths of their own. */
  documents?: ReadonlyMap<string, () => PublishedDocument>;
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
}

export interface ApiServerOptions {
  store: Store;
  clock: Clock;
  rng: Rng;
  logger?: Logger;
  metrics?: Metrics;
  /** Default: the built-in kinds. */
  kinds?: readonly KindDefinition<never>[];
  /** Records requests; left open. */
  audit?: AuditTrail | undefined;
  parts?(input: PartsInput): ApiServerParts | Promise<ApiServerParts>;
  requestsInFlightMax?: number;
  mutatingRequestsInFlightMax?: number;
  /** Default: `limits.ts`. */
  requestTimeoutMs?: number;
  watchTimeoutMinMs?: number;
  eventTtlSeconds?: number;
  /** Whether pods may hold privileged containers. Default false, as kube-apiserver's flag. */
  allowPrivileged?: boolean;
  /** 0: the store's history is left alone (an etcd that others compact). */
  compactionIntervalMs?: number;
  /** Freezes objects all the way down, to find writers to shared state. Default: in tests. */
  deepFreeze?: boolean;
  /** Reads the file of field descriptions; undefined: there is none. */
  descriptions?(): Promise<string | undefined>;
  /** `host:port` shown by legacy discovery. */
  address?(): string;
  /** Which built-in versions are served; default: all. */
  isServed?(group: string, version: string): boolean;
  /** Checks of components beside this server, for `/readyz`. */
  components?: () => readonly HealthCheck[];
  /** How long `/livez` holds unfinished start hooks for healthy. */
  livezGraceMs?: number;
  /** Whether what is stored under a key is to be written again although it did not change (encryption). */
  isStale?(key: string): boolean;
  /** Health checks beside the server's own, of `/healthz` and `/readyz`. */
  checks?: readonly HealthCheck[];
  /** Start hooks wait for `start`; otherwise they run at once. */
  holdStart?: boolean;
}

export interface ApiServer {
  /** One HTTP request; never rejects. */
  handle(request: WireRequest, response: WireResponse): Promise<void>;
  /** A request to speak another protocol (exec, attach, port-forward); never rejects. */
  upgrade(upgrade: WireUpgrade): Promise<void>;
  /** Lets held start hooks run; later calls do nothing. */
  start(): void;
  /** In-process access as `user`; `userAgent` names its field manager. */
  transport(user: UserInfo, userAgent?: string): Transport;
  readonly cluster: ReadOnlyCluster;
  readonly writer: ClusterWriter;
  readonly metrics: Metrics;
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

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const randomnessOf = (rng: Rng): Randomness => ({
  uuid: () => rng.uuid(),
  suffix: () => Array.from({ length: 5 }, () => suffixAlphabet[rng.int(suffixAlphabet.length)]).join(''),
  fraction: () => rng.next(),
});

const everyone: UserInfo = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };
const noAdmission: AdmissionChain = { admit() {}, validate() {} };

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock, rng, logger = silentLogger, metrics = createMetrics() } = options;
  const table = new ResourceTable();
  const random = randomnessOf(rng);
  const lost = ending();
  const feed = new StoreFeed({
    store,
    clock,
    logger,
    onLost: (error) => lost.end(new Error(`the store has stopped: ${error.message}`)),
  });
  const now = (): number => clock.now();
  const cluster = createCluster(table);
  const writer = createWriter(table, now, random);
  const storages = await buildTable(options, { table, feed, metrics, logger });
  const parts = (await options.parts?.({ cluster, writer, store, clock, logger, metrics })) ?? {};
  for (const resource of table.all()) {
    resource.hooks.push(
      ...(parts.hooks ?? []).filter((hook) => hook.resource === resource.resource && hook.group === resource.storageGroup),
    );
  }
  const probes = [{ name: 'etcd-0', probe: () => feed.check().then(() => 'ok') }];
  const isServed = ({ group, version }: SpecialRest): boolean => options.isServed?.(group, version) ?? true;
  for (const one of parts.virtual ?? []) table.addVirtual(one);
  const virtual = (parts.virtual ?? []).flatMap(({ endpoints }) => endpoints);
  const special = [...(parts.special ?? []).filter(isServed), componentStatusEndpoint(probes), ...virtual];
  const context = contextOf(options, { ...parts, special }, { table, feed, random, cluster, writer, metrics, logger });
  const health = createHealthChecks(feed, {
    clock,
    livezGraceMs: options.livezGraceMs ?? 0,
    ...(options.components && { components: options.components }),
    checks: options.checks ?? [],
  });
  const openApi = createOpenApi(table, context.schema, options.descriptions, parts.aggregator);
  const route = createRoute(context, { health, openApi, ...(parts.documents && { documents: parts.documents }) });
  const serve = chainOf(options, parts, context, route);
  const stopDefinitions = serveDefinitions({
    table,
    schema: context.schema,
    cluster,
    writer,
    clock,
    logger,
    openStorage: storages.custom,
    closeStorage: storages.close,
    converterOf: converterFactory({
      clients: new WebhookClients(parts.webhooks ?? { resolve: byClusterIp(cluster) }, clock),
      uuid: random.uuid,
      clock,
      metrics,
    }),
  });
  const stopCompactor = compactorOf(options, feed, logger);
  const abort = new AbortController();
  // Every part that follows something listens for the end.
  setMaxListeners(0, abort.signal);
  const memory = { context, serve, turn: createTurnstile(createTurns(context.clock)) };
  const inOwnDomain = ownDomain();
  let start = (): void => {};
  const held = new Promise<void>((resolve) => {
    start = resolve;
  });
  if (!options.holdStart) start();
  const { signal } = abort;
  const started = held.then(() =>
    runStartHooks([...(parts.startHooks ?? []), ...(parts.aggregator?.hooks ?? [])], {
      health,
      cluster,
      writer,
      feed,
      clock,
      logger,
      signal,
    }),
  );
  started.catch((error: unknown) => {
    if (!signal.aborted) lost.end(error as Error);
  });
  return {
    async handle(request, response) {
      await serve(wireIncoming(context, { request, response }));
    },
    async upgrade(upgrade) {
      await serve(wireIncoming(context, upgradeExchange(upgrade)));
    },
    start: () => start(),
    transport: (user, userAgent = 'sagong') => inOwnDomain(createMemoryTransport(memory, user, userAgent)),
    cluster,
    writer,
    metrics,
    started,
    failed: lost.over,
    ready: () => isReady(health),
    leave: () => health.shutDown(),
    async close() {
      health.shutDown();
      abort.abort(new Error('the server is closing'));
      if (parts.leave) await leaveInTime(parts.leave(cluster, writer), { clock, logger });
      stopDefinitions();
      stopCompactor();
      context.endWatches();
      feed.close();
      parts.close?.();
      parts.aggregator?.close();
    },
  };
}

type FullContext = ServerContext & { endWatches(): void };

interface Made {
  table: ResourceTable;
  feed: StoreFeed;
  random: Randomness;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  metrics: Metrics;
  logger: Logger;
}

function contextOf(options: ApiServerOptions, parts: ApiServerParts, made: Made): FullContext {
  const special = new Map(
    (parts.special ?? []).map((rest) => [`${rest.group}/${rest.version}/${rest.resource}/${rest.subresource}`, rest]),
  );
  const running = new Set<() => void>();
  return {
    ...made,
    clock: options.clock,
    schema: builtinSchema(),
    settings: {
      admission: parts.admission ?? noAdmission,
      random: made.random,
      allowPrivileged: options.allowPrivileged ?? false,
    },
    version: versionInfo(),
    watches: {
      add(end) {
        running.add(end);
        return () => void running.delete(end);
      },
    },
    endWatches() {
      for (const end of [...running]) end();
    },
    aggregator: parts.aggregator,
    address: options.address ?? (() => '127.0.0.1:6443'),
    special: (group, version, resource, subresource) => special.get(`${group}/${version}/${resource}/${subresource}`),
    watchTimeoutMinMs: options.watchTimeoutMinMs ?? watchTimeoutMinMs,
  };
}

function chainOf(options: ApiServerOptions, parts: ApiServerParts, context: ServerContext, route: Next): Next {
  const readOnlyMax = options.requestsInFlightMax ?? requestsInFlightMax;
  const mutatingMax = options.mutatingRequestsInFlightMax ?? mutatingRequestsInFlightMax;
  const services = {
    clock: context.clock,
    logger: context.logger,
    authenticate: (credentials: Credentials) => parts.authenticate?.(credentials) ?? everyone,
    impersonate: (credentials: Credentials, asked: Attributes, onImpersonation?: OnImpersonation) =>
      parts.impersonate?.(credentials, asked, onImpersonation),
    authorize: (asked: Attributes, onDecision?: OnDecision) => parts.authorize?.(asked, onDecision),
    audit: options.audit,
    seats: boundedSeats(readOnlyMax, mutatingMax),
    remotes: parts.aggregator,
    observeRequest: requestMetrics(context.metrics),
    requestTimeoutMs: options.requestTimeoutMs ?? requestTimeoutMs,
  };
  return createChain(services, route);
}

async function buildTable(
  options: ApiServerOptions,
  made: { table: ResourceTable; feed: StoreFeed; metrics: Metrics; logger: Logger },
): Promise<Storages> {
  const { store, clock } = options;
  const { table, feed } = made;
  const isServed = (group: string, version: string): boolean => options.isServed?.(group, version) ?? true;
  const facts = builtinResources().filter(({ group, version }) => isServed(group, version));
  const groups = builtinGroups()
    .map(({ group, versions }) => ({
      group,
      versions: versions.map(({ version }) => version).filter((version) => isServed(group, version)),
    }))
    .filter(({ versions }) => versions.length > 0);
  const schema = builtinSchema();
  const storages = createStorages({
    store,
    feed,
    clock,
    logger: made.logger,
    metrics: made.metrics,
    schema,
    deepFreeze: options.deepFreeze ?? process.env['NODE_ENV'] === 'test',
    eventTtlSeconds: options.eventTtlSeconds ?? eventTtlSeconds,
    ...(options.isStale && { isStale: (key: string) => options.isStale?.(key) ?? false }),
  });
  const definitions = ((options.kinds ?? builtinKinds) as readonly KindDefinition<KubeObject>[]).map(withCleanUp);
  for (const resource of builtinServed({ facts, schema, definitions: definitions as never, storageOf: storages.builtin }))
    table.add(resource);
  table.setGroups(groups);
  for (const { group, versions } of groups) {
    for (const version of versions) {
      table.setDiscovered(
        group,
        version,
        facts.filter((fact) => fact.group === group && fact.version === version).map(fromFacts),
      );
    }
  }
  await feed.start();
  return storages;
}

function compactorOf(options: ApiServerOptions, feed: StoreFeed, logger: Logger): () => void {
  const intervalMs = options.compactionIntervalMs ?? compactionIntervalMs;
  return intervalMs > 0 ? startCompactor(options.store, options.clock, logger, intervalMs, () => feed.revision) : () => {};
}

async function isReady(health: HealthChecks): Promise<boolean> {
  for (const { check, informative } of health.lists().readyz) {
    if (informative) continue;
    try {
      await check();
    } catch {
      return false;
    }
  }
  return true;
}
