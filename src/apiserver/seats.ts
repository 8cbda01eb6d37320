// Who is served how soon: priority and fairness by what the cluster configures, or a bound by number alone.
import type { FlowSchema, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import type { Metrics } from '#component-base';
import type { Clock } from '#utils';
import { defaultFlowSchemas, defaultPriorityLevels } from './bootstrap/flow-control.ts';
import { boundedSeats } from './chain/links/limit.ts';
import type { Seats } from './chain/services.ts';
import { type Facts, FairSeats, type ResourceStats } from './flowcontrol/index.ts';
import type { ResourceTable } from './registry/resource-table.ts';
import type { ServerSettings } from './settings.ts';
import type { ReadOnlyCluster } from './storage/read-only-cluster.ts';
import type { ResourceCache } from './storage/resource-cache.ts';

export interface SeatsInput {
  settings: ServerSettings;
  table: ResourceTable;
  cluster: ReadOnlyCluster;
  clock: Clock;
  metrics: Metrics;
}

export interface ServerSeats {
  seats: Seats;
  /** The debug endpoints. */
  debug(path: string, query: string): string | undefined;
  close(): void;
}

const group = 'flowcontrol.apiserver.k8s.io';
const mandatoryNames = new Set(['exempt', 'catch-all']);
const isMandatory = ({ metadata }: { metadata: { name?: string } }): boolean => mandatoryNames.has(metadata.name ?? '');
const dumps = { dump_priority_levels: 'levels', dump_queues: 'queues', dump_requests: 'requests' } as const;
const dumpPath = '/debug/api_priority_and_fairness/';

/** Objects whose size stands for that of all. */
const sampleSize = 8;
/** How long a sample is good for. */
const sampleMs = 10_000;

function averageBytes({ entries, options }: ResourceCache): number {
  let [bytes, count] = [0, 0];
  entries.walk(options.prefix, options.prefix, ({ line }) => {
    bytes += line.length;
    return ++count < sampleSize;
  });
  return count === 0 ? 0 : bytes / count;
}

function factsOf(table: ResourceTable, clock: Clock): Facts {
  const samples = new Map<ResourceCache, { bytes: number; untilMs: number }>();
  const cacheOf = (name: string, resource: string): ResourceCache | undefined => table.findAny(name, resource)?.storage.cache;
  return {
    stats(name, resource): ResourceStats | undefined {
      const cache = cacheOf(name, resource);
      if (!cache) return undefined;
      const objects = cache.entries.size;
      if (objects === 0) return { objects, bytes: 0 };
      let sample = samples.get(cache);
      if (!sample || sample.untilMs < clock.monotonic()) {
        sample = { bytes: averageBytes(cache), untilMs: clock.monotonic() + sampleMs };
        samples.set(cache, sample);
      }
      return { objects, bytes: sample.bytes };
    },
    watchers: ({ group: name, resource, namespace, name: object }) =>
      cacheOf(name, resource)?.watchers.interestedIn(namespace, object) ?? 0,
  };
}

export function serverSeats({ settings, table, cluster, clock, metrics }: SeatsInput): ServerSeats {
  const { enablePriorityAndFairness, maxRequestsInFlight, maxMutatingRequestsInFlight, requestTimeoutMs } = settings;
  const bounded = (): ServerSeats => ({
    seats: boundedSeats(maxRequestsInFlight, maxMutatingRequestsInFlight),
    debug: () => undefined,
    close() {},
  });
  const total = maxRequestsInFlight + maxMutatingRequestsInFlight;
  if (!enablePriorityAndFairness || total <= 0) return bounded();
  const fair = new FairSeats({
    clock,
    metrics,
    total,
    mandatory: { schemas: defaultFlowSchemas().filter(isMandatory), levels: defaultPriorityLevels().filter(isMandatory) },
    facts: factsOf(table, clock),
    waitMs: requestTimeoutMs / 4,
  });
  const configure = (): void =>
    fair.configure(
      cluster.list<FlowSchema>(group, 'flowschemas'),
      cluster.list<PriorityLevelConfiguration>(group, 'prioritylevelconfigurations'),
    );
  configure();
  // Many objects change together at the start: they are read once.
  let pending = false;
  let closed = false;
  const later = (): void => {
    if (pending) return;
    pending = true;
    queueMicrotask(() => {
      pending = false;
      if (!closed) configure();
    });
  };
  const stops = ['flowschemas', 'prioritylevelconfigurations'].map((resource) => cluster.onChange(group, resource, later));
  return {
    seats: { take: (request) => fair.take(request), exempts: (request) => fair.exempts(request), seatsWatches: true },
    debug(path, query) {
      const name = path.startsWith(dumpPath) ? path.slice(dumpPath.length) : '';
      const what = Object.hasOwn(dumps, name) ? dumps[name as keyof typeof dumps] : undefined;
      return what && fair.dump(what, (new URLSearchParams(query).get('includeRequestDetails') ?? '') !== '');
    },
    close() {
      closed = true;
      for (const stop of stops) stop();
      fair.close();
    },
  };
}
