// GET /stats/summary (k8s.io/kubelet/pkg/apis/stats/v1alpha1), as far as the runtime and the kernel report it.
import { formatTime } from '#apimachinery/meta';
import type { ContainerStats, CpuStats, MemoryStats, NodeStats, PodStats, StatsSummary } from '#component-helpers/stats';
import type { PodRecord } from '../container/types.ts';
import type { ServedKubelet } from './served.ts';
import type { ContainerUsage } from '../container/runtime.ts';
import { usageOfNode } from '../stats/node-usage.ts';
import { filesystemsOf, type NodeSpace, nodeSpace } from '../stats/space.ts';

const cpu = (time: string, usage: ContainerUsage): CpuStats => ({
  time,
  ...(usage.cpuNanoCores !== undefined && { usageNanoCores: usage.cpuNanoCores }),
  ...(usage.cpuUsageCoreNanoSeconds !== undefined && { usageCoreNanoSeconds: usage.cpuUsageCoreNanoSeconds }),
});

const memory = (time: string, usage: ContainerUsage): MemoryStats => ({
  time,
  ...(usage.memoryWorkingSetBytes !== undefined && { workingSetBytes: usage.memoryWorkingSetBytes }),
  ...(usage.memoryUsageBytes !== undefined && { usageBytes: usage.memoryUsageBytes }),
  ...(usage.memoryRssBytes !== undefined && { rssBytes: usage.memoryRssBytes }),
});

type Field = 'cpuNanoCores' | 'cpuUsageCoreNanoSeconds' | 'memoryWorkingSetBytes' | 'memoryUsageBytes' | 'memoryRssBytes';
const fields: readonly Field[] = [
  'cpuNanoCores',
  'cpuUsageCoreNanoSeconds',
  'memoryWorkingSetBytes',
  'memoryUsageBytes',
  'memoryRssBytes',
];

/** Only what is known of each of them can be said of all together. */
function sum(list: readonly ContainerUsage[]): ContainerUsage {
  const total: ContainerUsage = {};
  for (const field of fields) {
    const values = list.flatMap((one) => one[field] ?? []);
    if (values.length === list.length) total[field] = values.reduce((a, b) => a + b, 0);
  }
  return total;
}

const startOf = (atMs: number): string | undefined => (atMs > 0 ? formatTime(atMs) : undefined);

interface Reading {
  time: string;
  usage: ReadonlyMap<string, ContainerUsage>;
  space: NodeSpace | undefined;
}

const diskOf = ({ options, parts, workers }: ServedKubelet, { uid }: PodRecord) => ({
  podLogsDir: options.podLogsDir,
  volumes: workers.get(uid)?.pod?.spec?.volumes,
  mounted: parts.volumePaths?.(uid),
});

async function podStats(kubelet: ServedKubelet, record: PodRecord, { time, usage, space }: Reading): Promise<PodStats[]> {
  const running = record.containers.filter(({ id, state }) => state === 'running' && usage.has(id));
  if (running.length === 0) return [];
  const of = (id: string): ContainerUsage => usage.get(id) ?? {};
  const total = sum(running.map(({ id }) => of(id)));
  const files = space && (await filesystemsOf(record, { ...diskOf(kubelet, record), usage, space, time }));
  const containers = running.map(
    ({ id, name, startedAtMs }): ContainerStats => ({
      name,
      startTime: startOf(startedAtMs),
      cpu: cpu(time, of(id)),
      memory: memory(time, of(id)),
      ...files?.containers.get(name),
    }),
  );
  return [
    {
      podRef: { name: record.name, namespace: record.namespace, uid: record.uid },
      startTime: startOf(record.sandboxes[0]?.createdAtMs ?? 0),
      containers,
      cpu: cpu(time, total),
      memory: memory(time, total),
      ...files?.pod,
    },
  ];
}

/** `only_cpu_and_memory`: nothing that has to be looked for on disk. */
export async function statsSummary(kubelet: ServedKubelet, onlyCpuAndMemory = false): Promise<StatsSummary> {
  const { runtime, clock } = kubelet.parts;
  const usage = await runtime.usage();
  const own = await usageOfNode(runtime, clock);
  const space = onlyCpuAndMemory || runtime.simulated ? undefined : await nodeSpace(kubelet.options.rootDir);
  const reading = { time: formatTime(clock.now()), usage, space };
  const pods = await Promise.all((await runtime.list()).map((record) => podStats(kubelet, record, reading)));
  return { node: nodeStats(kubelet, own, reading), pods: pods.flat() };
}

function nodeStats({ options }: ServedKubelet, own: ContainerUsage, { time, space }: Reading): NodeStats {
  const fs = space?.fs && { time, ...space.fs };
  return {
    nodeName: options.nodeName,
    cpu: cpu(time, own),
    memory: {
      ...memory(time, own),
      ...(space?.memoryAvailableBytes !== undefined && { availableBytes: space.memoryAvailableBytes }),
    },
    ...(fs && { fs, runtime: { imageFs: fs, containerFs: fs } }),
    ...(space?.pids && { rlimit: { time, maxpid: space.pids.max, curproc: space.pids.used } }),
  };
}
