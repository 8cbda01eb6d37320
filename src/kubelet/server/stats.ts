// GET /stats/summary (k8s.io/kubelet/pkg/apis/stats/v1alpha1), as far as the runtime and the kernel tell.
import { formatTime } from '#apimachinery/meta';
import { observe } from '../eviction/observe.ts';
import { nodeUsage } from '../stats/node-usage.ts';
import type { Kubelet } from '../kubelet.ts';
import type { ContainerUsage } from '../runtime/types.ts';

const cpu = (time: string, usage: ContainerUsage): object => ({
  time,
  usageNanoCores: usage.cpuNanoCores ?? 0,
  usageCoreNanoSeconds: usage.cpuUsageCoreNanoSeconds ?? 0,
});

const memory = (time: string, usage: ContainerUsage): object => ({
  time,
  workingSetBytes: usage.memoryWorkingSetBytes ?? 0,
  ...(usage.memoryUsageBytes !== undefined && { usageBytes: usage.memoryUsageBytes }),
  ...(usage.memoryRssBytes !== undefined && { rssBytes: usage.memoryRssBytes }),
});

const sum = (list: readonly ContainerUsage[]): ContainerUsage =>
  list.reduce<ContainerUsage>(
    (total, one) => ({
      cpuNanoCores: (total.cpuNanoCores ?? 0) + (one.cpuNanoCores ?? 0),
      cpuUsageCoreNanoSeconds: (total.cpuUsageCoreNanoSeconds ?? 0) + (one.cpuUsageCoreNanoSeconds ?? 0),
      memoryWorkingSetBytes: (total.memoryWorkingSetBytes ?? 0) + (one.memoryWorkingSetBytes ?? 0),
    }),
    {},
  );

const seconds = (atMs: number): string | undefined => (atMs > 0 ? formatTime(atMs) : undefined);

export async function statsSummary(kubelet: Kubelet): Promise<object> {
  const { runtime, clock } = kubelet.parts;
  const time = formatTime(clock.now());
  const usage = await runtime.usage();
  const records = await runtime.list();
  const seen = runtime.simulated ? {} : await observe(kubelet.options.rootDir);
  const own = runtime.simulated ? undefined : await nodeUsage(clock);
  const all: ContainerUsage[] = [];
  const pods = records.flatMap((record) => {
    const running = record.containers.filter(({ id, state }) => state === 'running' && usage.has(id));
    if (running.length === 0) return [];
    const of = (id: string): ContainerUsage => usage.get(id) ?? {};
    const total = sum(running.map(({ id }) => of(id)));
    all.push(total);
    return [
      {
        podRef: { name: record.name, namespace: record.namespace, uid: record.uid },
        startTime: seconds(record.sandboxes[0]?.createdAtMs ?? 0),
        containers: running.map(({ id, name, startedAtMs }) => ({
          name,
          startTime: seconds(startedAtMs),
          cpu: cpu(time, of(id)),
          memory: memory(time, of(id)),
        })),
        cpu: cpu(time, total),
        memory: memory(time, total),
      },
    ];
  });
  const space = seen['nodefs.available'];
  const ram = seen['memory.available'];
  const fs = space && {
    time,
    availableBytes: space.available,
    capacityBytes: space.capacity,
    usedBytes: space.capacity - space.available,
  };
  return {
    node: {
      nodeName: kubelet.options.nodeName,
      cpu: cpu(time, own ?? sum(all)),
      ...(own && { memory: { ...memory(time, own), ...(ram && { availableBytes: ram.available }) } }),
      ...(fs && { fs, runtime: { imageFs: fs } }),
    },
    pods,
  };
}
