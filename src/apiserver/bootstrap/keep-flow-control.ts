// Keeps the objects of API priority and fairness that a cluster cannot do without: made when the server starts, made again at once when one
// is deleted, and compared once a minute (pkg/registry/flowcontrol/rest and ensurer). Not at every change: two servers of different versions
// would write against each other without end.
import type { FlowSchema, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import type { KubeObject } from '#apimachinery/meta';
import type { Clock, Timer } from '#utils';
import { flowControlCheckMs } from '../limits.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { ensure, type Wanted } from './ensure.ts';
import { defaultFlowSchemas, defaultPriorityLevels } from './flow-control.ts';

const group = 'flowcontrol.apiserver.k8s.io';
const annotation = 'apf.kubernetes.io/autoupdate-spec';
/** What no administrator can have otherwise. */
const mandatory = new Set(['exempt', 'catch-all']);

type Configuration = FlowSchema | PriorityLevelConfiguration;

/** Whether everything in `wanted` stands in `current`; what defaulting added does not count. */
function sameJson(current: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return current === wanted;
  if (typeof current !== 'object' || current === null) return false;
  if (Array.isArray(wanted)) {
    return Array.isArray(current) && current.length === wanted.length && wanted.every((item, i) => sameJson(current[i], item));
  }
  return Object.entries(wanted).every(([key, value]) => sameJson((current as Record<string, unknown>)[key], value));
}

/** The spec is the server's while the annotation says so; that of mandatory objects always is, and so is their annotation. */
function reconciled<T extends Configuration>(current: T, wanted: T): T | undefined {
  const { annotations } = current.metadata;
  const owned = annotations?.[annotation] === 'true';
  if (!owned && !mandatory.has(wanted.metadata.name ?? '')) return undefined;
  if (owned && sameJson(current.spec, wanted.spec)) return undefined;
  const metadata = { ...current.metadata, annotations: { ...annotations, [annotation]: 'true' } };
  return { ...current, metadata, spec: wanted.spec };
}

/** Resolves when all of them are there; they are kept until the signal. */
export async function keepFlowControl(
  cluster: ReadOnlyCluster,
  writer: ClusterWriter,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  const wanted: Wanted<KubeObject>[] = [
    ...defaultPriorityLevels().map((object) => ({ group, resource: 'prioritylevelconfigurations', object })),
    ...defaultFlowSchemas().map((object) => ({ group, resource: 'flowschemas', object })),
  ];
  const make = (objects: readonly Wanted<KubeObject>[]): Promise<void> =>
    ensure<KubeObject>(cluster, writer, objects, reconciled, 'api-priority-and-fairness-config-producer-v1');
  // What fails now is tried again with the next round.
  const later = (objects: readonly Wanted<KubeObject>[]): void => {
    if (!signal.aborted) void make(objects).catch(() => undefined);
  };
  const stops = ['prioritylevelconfigurations', 'flowschemas'].map((resource) =>
    cluster.onChange<KubeObject>(group, resource, (now, before) => {
      if (now || !before) return;
      later(wanted.filter((one) => one.resource === resource && one.object.metadata.name === before.metadata.name));
    }),
  );
  let timer: Timer | undefined;
  const again = (): void => {
    timer = clock.setTimer(flowControlCheckMs, () => {
      later(wanted);
      again();
    });
  };
  signal.addEventListener('abort', () => {
    timer?.cancel();
    for (const stop of stops) stop();
  });
  await make(wanted);
  if (!signal.aborted) again();
}
