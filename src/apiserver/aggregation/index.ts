// API aggregation (k8s.io/kube-aggregator): APIServices of what is served here, and requests for what other API servers serve.
import type { APIService } from '#api/apiregistration/v1';
import type { Metrics } from '#component-base';
import type { Clock, Logger, Timer } from '#utils';
import type { StartHook } from '../registry/start-hook.ts';
import type { VirtualGroup } from '../registry/virtual-group.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { Incoming } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import type { RemoteApis } from '../endpoints/remote-apis.ts';
import type { RemoteServers } from '../chain/services.ts';
import { aggregationRetryMs } from '../limits.ts';
import { judgeLocal } from './availability.ts';
import { callRemote, watchRemote } from './direct.ts';
import { RemoteDiscovery } from './discovery.ts';
import { forward } from './forward.ts';
import { mergedGroups } from './groups.ts';
import { RemoteOpenApi } from './openapi.ts';
import { followAvailability } from './probe.ts';
import { apiServiceGroup, registerBuiltin, registerCustom } from './registration.ts';
import { type ConnectionOptions, type Remote, RemoteConnections, RemoteTable } from './remotes.ts';

interface AggregationDeps {
  clock: Clock;
  logger: Logger;
}

/** Runs `work` now and whenever asked again, one at a time; what failed is tried again later. */
function follower(work: () => Promise<void>, { clock, logger }: AggregationDeps, signal: AbortSignal): () => void {
  let running = false;
  let wanted = false;
  let timer: Timer | undefined;
  const run = async (): Promise<void> => {
    running = true;
    while (wanted && !signal.aborted) {
      wanted = false;
      try {
        await work();
      } catch (error) {
        if (signal.aborted) break;
        logger.warn('APIServices not brought up to date', { err: (error as Error).message });
        timer = clock.setTimer(aggregationRetryMs, again);
        break;
      }
    }
    running = false;
  };
  const again = (): void => {
    wanted = true;
    if (!running && !signal.aborted) void run();
  };
  signal.addEventListener('abort', () => timer?.cancel(), { once: true });
  return again;
}

function follow(
  cluster: ReadOnlyCluster,
  watched: [group: string, resource: string][],
  again: () => void,
  signal: AbortSignal,
): void {
  const stops = watched.map(([group, resource]) => cluster.onChange(group, resource, again));
  signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
}

async function keepCustom(
  deps: AggregationDeps,
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  signal: AbortSignal,
): Promise<void> {
  await registerCustom(cluster, writer);
  const again = follower(() => registerCustom(cluster, writer), deps, signal);
  follow(
    cluster,
    [
      ['apiextensions.k8s.io', 'customresourcedefinitions'],
      [apiServiceGroup, 'apiservices'],
    ],
    again,
    signal,
  );
}

async function keepLocalJudged(
  deps: AggregationDeps,
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  signal: AbortSignal,
): Promise<void> {
  const judge = (): Promise<void> =>
    judgeLocal(cluster, writer, cluster.list<APIService>(apiServiceGroup, 'apiservices'), () => deps.clock.now());
  await judge();
  follow(cluster, [[apiServiceGroup, 'apiservices']], follower(judge, deps, signal), signal);
}

/** What the server knows of other API servers, and how it hands requests on to them. */
export interface Aggregator extends RemoteServers, RemoteApis {
  readonly hooks: readonly StartHook[];
  close(): void;
}

export interface AggregatorDeps extends AggregationDeps, ConnectionOptions {
  /** `--request-timeout`. */
  requestTimeoutMs: number;
  cluster: ReadOnlyCluster;
  metrics: Metrics;
  /** A pause in which others go on. */
  rest(): Promise<void> | undefined;
  /** Group versions that are served here unless a Service of the user's takes them. */
  virtual?: readonly VirtualGroup[];
}

export function createAggregator(deps: AggregatorDeps): Aggregator {
  const { cluster, clock, metrics, requestTimeoutMs, rest } = deps;
  const remotes = new RemoteTable();
  const connections = new RemoteConnections(deps);
  const discovery = new RemoteDiscovery({ remotes, connections, clock });
  const handlers: (() => void)[] = [];
  const openApi = new RemoteOpenApi({
    remotes,
    connections,
    clock,
    requestTimeoutMs,
    rest,
    onChange: () => handlers.forEach((handler) => handler()),
  });
  const specOf = (group: string, version: string): APIService['spec'] =>
    cluster.get<APIService>(apiServiceGroup, 'apiservices', '', `${version}.${group}`)?.spec;
  return {
    serve(request) {
      if (remotes.empty) return undefined;
      const { target, path = '' } = request;
      const remote = request.connection || !target ? remotes.serving(path) : remotes.of(target.group, target.version);
      return remote && served(connections, remote, request);
    },
    groups: (locals) => mergedGroups(locals, remotes.all(), specOf),
    version: (group, version) => discovery.version(group, version),
    openApi,
    onOpenApi: (handler) => void handlers.push(handler),
    hooks: [
      ...registrationHooks(deps),
      { name: 'apiservice-registration-controller', run: async (_, __, signal) => remotes.follow(cluster, signal) },
      {
        name: 'apiservice-status-remote-available-controller',
        run: async (_, writer, signal) => followAvailability({ cluster, writer, remotes, connections, clock, metrics }, signal),
      },
      { name: 'apiservice-discovery-controller', run: (_, __, signal) => discovery.follow(signal) },
      { name: 'apiservice-openapi-controller', run: async (_, __, signal) => openApi.follow(signal) },
    ],
    close: () => connections.close(),
  };
}

async function served(connections: RemoteConnections, remote: Remote, request: Incoming): Promise<Outcome> {
  if (request.connection) return forward(request, connections, remote);
  if (request.verb === 'watch') return { is: 'remote watch', stream: await watchRemote(connections, remote, request) };
  return { is: 'remote', value: await callRemote(connections, remote, request) };
}

/** The hooks of what is served here, by upstream's names. */
const registrationHooks = (deps: AggregationDeps & Pick<AggregatorDeps, 'virtual'>): StartHook[] => [
  {
    name: 'kube-apiserver-autoregistration',
    loop: true,
    async run(cluster, writer, signal) {
      await registerBuiltin(cluster, writer, deps.virtual);
      await keepCustom(deps, cluster, writer, signal);
    },
  },
  {
    name: 'apiservice-status-local-available-controller',
    loop: true,
    run: (cluster, writer, signal) => keepLocalJudged(deps, cluster, writer, signal),
  },
];
