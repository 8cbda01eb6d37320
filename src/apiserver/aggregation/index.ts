// APIServices: registered for what is served here, and judged. The aggregator's part of the start hooks.
import type { APIService } from '#api/apiregistration/v1';
import type { Clock, Logger, Timer } from '#utils';
import type { ClusterWriter, ReadOnlyCluster, StartHook } from '../contracts.ts';
import { aggregationRetryMs } from '../limits.ts';
import { judge } from './availability.ts';
import { apiServiceGroup, registerBuiltin, registerCustom } from './registration.ts';

export { isRemote } from './availability.ts';

export interface AggregationDeps {
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

async function keepJudged(
  deps: AggregationDeps,
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  signal: AbortSignal,
): Promise<void> {
  const all = (): readonly APIService[] => cluster.list<APIService>(apiServiceGroup, 'apiservices');
  const now = (): number => deps.clock.now();
  await judge(cluster, writer, all(), now);
  follow(
    cluster,
    [[apiServiceGroup, 'apiservices']],
    follower(() => judge(cluster, writer, all(), now), deps, signal),
    signal,
  );
  const remote = (): APIService[] => all().filter(({ spec }) => spec?.service);
  const again = follower(() => judge(cluster, writer, remote(), now), deps, signal);
  // Services come and go all the time; without remote APIServices nobody needs to look.
  const ifRemote = (): void => {
    if (remote().length > 0) again();
  };
  follow(
    cluster,
    [
      ['', 'services'],
      ['discovery.k8s.io', 'endpointslices'],
    ],
    ifRemote,
    signal,
  );
}

/** The hooks, by upstream's names. */
export const aggregationHooks = (deps: AggregationDeps): StartHook[] => [
  {
    name: 'kube-apiserver-autoregistration',
    async run(cluster, writer, signal) {
      await registerBuiltin(cluster, writer);
      await keepCustom(deps, cluster, writer, signal);
    },
  },
  {
    name: 'apiservice-status-local-available-controller',
    run: (cluster, writer, signal) => keepJudged(deps, cluster, writer, signal),
  },
];
