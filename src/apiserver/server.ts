// Puts the apiserver together, from the ground up: caches over the store, the table of resources, the parts that decide, the chain of links, and the
// ways in (over the wire and in memory).
import { allowListeners } from './platform/streams.ts';
import { builtinSchema, type KindSettings } from '#api';
import { createMetrics, type Metrics, versionInfo } from '#component-base';
import { createTurnstile, createTurns, createUtilization } from '#host';
import { type Logger, type Rng, silentLogger } from '#utils';
import { createMemoryTransport } from './adapters/memory.ts';
import { ownDomain } from './adapters/own-domain.ts';
import { wayOverWire } from './adapters/wire.ts';
import { converterFactory } from './apiextensions/conversion/converter.ts';
import { serveDefinitions } from './apiextensions/serve-definitions.ts';
import { createImpersonation } from './authorization/index.ts';
import type { Authorizer } from './authorization/types.ts';
import { serveBuiltins } from './builtin-resources.ts';
import { createChain } from './chain/chain.ts';
import type { Next } from './chain/link.ts';
import type { Seats } from './chain/services.ts';
import { Refusals } from './chain/refusals.ts';
import { serverSeats } from './seats.ts';
import { requestMetrics, watchMetrics } from './chain/request-metrics.ts';
import type { ServerContext } from './endpoints/context.ts';
import { createHealthChecks, type HealthChecks } from './endpoints/health.ts';
import { createOpenApi } from './endpoints/openapi/serve.ts';
import { createRoute } from './endpoints/route.ts';
import { byClusterIp } from './outbound/service-resolver.ts';
import { WebhookClients } from './outbound/webhook-client.ts';
import { certificateReaders } from './registry/certificates/readers.ts';
import { createCluster, createWriter } from './registry/cluster.ts';
import { componentStatusEndpoint } from './registry/component-status.ts';
import type { AdmissionChain, Randomness } from './registry/generic/types.ts';
import { ResourceTable } from './registry/resource-table.ts';
import type { SpecialRest } from './registry/special.ts';
import type { ClusterWriter } from './registry/writer.ts';
import type { Target, UserInfo } from './request/request.ts';
import { Paces } from './flowcontrol/index.ts';
import { restsOf } from './rests.ts';
import type { ApiServer, ApiServerOptions, ApiServerParts } from './server-options.ts';
import { defaultSettings, kindSettingsOf, type ServerSettings } from './settings.ts';
import { cacheHooks, ending, leaveInTime, runStartHooks } from './start-hooks.ts';
import { startCompactor } from './storage/compactor.ts';
import type { ReadOnlyCluster } from './storage/read-only-cluster.ts';
import { StoreFeed } from './storage/store-feed.ts';
import type { Storages } from './storage/storages.ts';

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const randomnessOf = (rng: Rng): Randomness => ({
  uuid: () => rng.uuid(),
  suffix: () => Array.from({ length: 5 }, () => suffixAlphabet[rng.int(suffixAlphabet.length)]).join(''),
  fraction: () => rng.next(),
});

const everyone: UserInfo = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };
const everything: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
const noAdmission: AdmissionChain = { admit: () => undefined, validate: () => undefined };

/** What everything stands on: the store's objects in memory, and the server's own reads and writes of them. */
interface Ground {
  options: ApiServerOptions;
  settings: ServerSettings;
  kindSettings: KindSettings;
  logger: Logger;
  metrics: Metrics;
  random: Randomness;
  table: ResourceTable;
  feed: StoreFeed;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  refusals: Refusals;
  /** Ends when the server cannot go on. */
  lost: ReturnType<typeof ending>;
  paces: Paces;
}

function groundOf(options: ApiServerOptions): Ground {
  const { store, clock, rng, logger = silentLogger, metrics = createMetrics() } = options;
  const settings = { ...defaultSettings, ...options.settings };
  const kindSettings = kindSettingsOf(settings, certificateReaders);
  const table = new ResourceTable();
  const random = randomnessOf(rng);
  const lost = ending();
  const onLost = (error: Error): void => lost.end(new Error(`the store has stopped: ${error.message}`));
  const feed = new StoreFeed({ store, clock, logger, onLost });
  const cluster = createCluster(table);
  const writer = createWriter(table, () => clock.now(), random, kindSettings);
  return {
    options,
    settings,
    kindSettings,
    logger,
    metrics,
    random,
    table,
    feed,
    cluster,
    writer,
    refusals: new Refusals(),
    lost,
    paces: new Paces(clock, createUtilization()),
  };
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock } = options;
  const ground = groundOf(options);
  const { cluster, writer, logger, metrics, feed, lost } = ground;
  const storages = await serveBuiltins(options, ground);
  const refusals = () => ground.refusals.all();
  const parts = (await options.parts?.({ cluster, writer, store, clock, logger, metrics, refusals })) ?? {};
  extendTable(ground.table, parts);
  const context = contextOf(ground, parts);
  const health = createHealthChecks(feed, {
    clock,
    livezGraceMs: ground.settings.livezGraceMs,
    checks: options.checks ?? [],
    components: options.components,
  });
  const { rest } = context.settings;
  const openApi = createOpenApi(ground.table, context.schema, options.descriptions, rest, parts.aggregator);
  const seats = serverSeats({ ...ground, clock });
  const { documents, decisions } = parts;
  const route = createRoute(context, { health, openApi, debug: seats.debug, flags: options.flags, clock, documents, decisions });
  const serve = chainOf(ground, parts, { context, seats: seats.seats }, route);
  const stopFollowing = followStore(ground, parts, storages, rest);
  const starting = startUp(ground, parts, health);
  const memory = { context, serve, turn: createTurnstile({ clock, turns: createTurns(clock) }) };
  const inOwnDomain = ownDomain();
  return {
    ...wayOverWire({ context, serve }),
    start: () => starting.begin(),
    transport: (user, userAgent = 'sagong') => inOwnDomain(createMemoryTransport(memory, user, userAgent)),
    cluster,
    writer,
    metrics,
    refusals,
    started: starting.done,
    failed: lost.over,
    ready: () => isReady(health),
    leave: () => health.shutDown(),
    async close() {
      health.shutDown();
      starting.abort();
      if (parts.leave) await leaveInTime(parts.leave(cluster, writer), { clock, logger });
      stopFollowing();
      seats.close();
      context.endWatches();
      feed.close();
      parts.close?.();
      parts.aggregator?.close();
    },
  };
}

/** Group versions without storage, and what happens inside writes of single resources. */
function extendTable(table: ResourceTable, { hooks = [], virtual = [] }: ApiServerParts): void {
  for (const group of virtual) table.addVirtual(group);
  for (const resource of table.all())
    resource.hooks.push(...hooks.filter((hook) => hook.resource === resource.resource && hook.group === resource.storageGroup));
}

/** Special endpoints by where they are served. */
function specialOf({ options, feed }: Ground, parts: ApiServerParts): ReadonlyMap<string, SpecialRest> {
  const probes = [{ name: 'etcd-0', probe: () => feed.check().then(() => 'ok') }];
  const served = (parts.special ?? []).filter(({ group, version }) => options.isServed?.(group, version) ?? true);
  const virtual = (parts.virtual ?? []).flatMap(({ endpoints }) => endpoints);
  return new Map(
    [...served, componentStatusEndpoint(probes), ...virtual].map((rest) => [
      `${rest.group}/${rest.version}/${rest.resource}/${rest.subresource}`,
      rest,
    ]),
  );
}

function contextOf(ground: Ground, parts: ApiServerParts): ServerContext & { endWatches(): void } {
  const { options, settings, kindSettings, table, feed, random, cluster, writer, metrics, logger } = ground;
  const special = specialOf(ground, parts);
  const running = new Set<() => void>();
  const { rest, restOf } = restsOf(options.clock, (flow, ms) => ground.paces.charge(flow, ms));
  return {
    table,
    feed,
    random,
    cluster,
    writer,
    metrics,
    logger,
    clock: options.clock,
    schema: builtinSchema(),
    settings: {
      admission: parts.admission ?? noAdmission,
      random,
      kinds: kindSettings,
      siblings: (resource) => table.siblings(resource),
      rest,
    },
    restOf,
    version: versionInfo(),
    watches: {
      add(end) {
        running.add(end);
        return () => void running.delete(end);
      },
    },
    watchEvents: watchMetrics(metrics),
    endWatches() {
      for (const end of [...running]) end();
    },
    aggregator: parts.aggregator,
    address: options.address ?? (() => '127.0.0.1:6443'),
    special: (group, version, resource, subresource) => special.get(`${group}/${version}/${resource}/${subresource}`),
    watchTimeoutMinMs: settings.minRequestTimeoutSeconds * 1000,
  };
}

/** Whether the resource and its subresource are something this server answers. */
function isServed({ table, special }: ServerContext, { group, version, resource, subresource }: Target): boolean {
  if (special(group, version, resource, subresource)) return true;
  const served = table.find(group, version, resource);
  return served !== undefined && (subresource === '' || served.subresources.has(subresource));
}

function chainOf(
  { options, settings, refusals, paces }: Ground,
  parts: ApiServerParts,
  { context, seats }: { context: ServerContext; seats: Seats },
  route: Next,
): Next {
  const { requestTimeoutMs } = settings;
  const services = {
    clock: context.clock,
    logger: context.logger,
    authenticate: parts.authenticate ?? (() => everyone),
    impersonate: parts.authorizer && createImpersonation(parts.authorizer),
    authorizer: parts.authorizer ?? everything,
    onAllowed: parts.onAllowed,
    audit: options.audit,
    seats,
    paces: settings.enablePriorityAndFairness ? paces : undefined,
    remotes: parts.aggregator,
    observer: requestMetrics(context.metrics, (target) => isServed(context, target)),
    refusals,
    requestTimeoutMs,
  };
  return createChain(services, route);
}

/** What follows the store from now on: definitions of custom resources, and the end of its history. Gives what ends both. */
function followStore(
  ground: Ground,
  parts: ApiServerParts,
  storages: Storages,
  rest: ServerContext['settings']['rest'],
): () => void {
  const { options, settings, table, feed, cluster, writer, metrics, logger, random } = ground;
  const { clock, store } = options;
  const stopDefinitions = serveDefinitions({
    table,
    schema: builtinSchema(),
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
      rest,
    }),
  });
  const { etcdCompactionIntervalMs: intervalMs } = settings;
  const stopCompactor = intervalMs > 0 ? startCompactor(store, clock, logger, intervalMs, () => feed.revision) : () => {};
  return () => {
    stopDefinitions();
    stopCompactor();
  };
}

interface Starting {
  /** Lets held start hooks run. */
  begin(): void;
  done: Promise<void>;
  abort(): void;
}

/** Runs the start hooks, at once or when told to begin. */
function startUp(
  { options, cluster, writer, feed, logger, lost }: Ground,
  parts: ApiServerParts,
  health: HealthChecks,
): Starting {
  const { clock } = options;
  const abort = new AbortController();
  // Every part that follows something listens for the end.
  allowListeners(abort.signal);
  const { signal } = abort;
  let begin = (): void => {};
  const held = new Promise<void>((resolve) => {
    begin = resolve;
  });
  if (!options.holdStart) begin();
  const hooks = [...cacheHooks, ...(parts.startHooks ?? []), ...(parts.aggregator?.hooks ?? [])];
  const done = held.then(() => runStartHooks(hooks, { health, cluster, writer, feed, clock, logger, signal }));
  done.catch((error: unknown) => {
    if (!signal.aborted) lost.end(error as Error);
  });
  return { begin, done, abort: () => abort.abort(new Error('the server is closing')) };
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
