// GET /metrics and /metrics/resource (upstream pkg/kubelet/metrics, collectors/resource_metrics.go): what metrics-server and scrapers read.
import { buildInfo, createMetrics, type Metrics } from '#component-base';
import type { ContainerRecord, PodRecord } from '../container/types.ts';
import type { ServedKubelet } from './served.ts';
import type { ContainerUsage } from '../container/runtime.ts';
import { usageOfNode } from '../stats/node-usage.ts';
import type { MountedVolume } from '../container/volume.ts';

/** The kubelet's own metrics, gathered when asked for. */
export async function kubeletMetrics(kubelet: ServedKubelet): Promise<string> {
  const metrics = createMetrics();
  const { runtime } = kubelet.parts;
  const records = await runtime.list();
  const node = metrics.gauge({ name: 'kubelet_node_name', help: "The node's name. The count is always 1.", labels: ['node'] });
  node.set(1, kubelet.options.nodeName);
  const containers = metrics.gauge({
    name: 'kubelet_running_containers',
    help: 'Number of containers currently running',
    labels: ['container_state'],
  });
  for (const { containers: list } of records) for (const { state } of list) containers.inc(1, state);
  const running = metrics.gauge({ name: 'kubelet_running_pods', help: 'Number of pods that have a running pod sandbox' });
  running.set(records.filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready)).length);
  await volumeMetrics(metrics, kubelet, records);
  buildInfo(metrics);
  return metrics.expose();
}

/** The metrics of volumes of claims (upstream pkg/kubelet/metrics/collectors/volume_stats.go). A volume that several pods use is counted once. */
async function volumeMetrics(
  metrics: Metrics,
  { parts: { volumePaths } }: ServedKubelet,
  records: readonly PodRecord[],
): Promise<void> {
  const gauge = gauges(metrics);
  const ofClaim = ['namespace', 'persistentvolumeclaim'];
  const named = (name: string, help: string): Set => gauge(`kubelet_volume_stats_${name}`, help, ofClaim);
  const capacity = named('capacity_bytes', 'Capacity in bytes of the volume');
  const available = named('available_bytes', 'Number of available bytes in the volume');
  const used = named('used_bytes', 'Number of used bytes in the volume');
  const inodes = named('inodes', 'Maximum number of inodes in the volume');
  const inodesFree = named('inodes_free', 'Number of free inodes in the volume');
  const inodesUsed = named('inodes_used', 'Number of used inodes in the volume');
  const volumes = new Map<string, MountedVolume>();
  for (const { uid } of records)
    for (const volume of volumePaths?.(uid).values() ?? [])
      if (volume.claim && volume.stats) volumes.set(`${volume.claim.namespace}/${volume.claim.name}`, volume);
  for (const { claim, stats } of volumes.values()) {
    const known = await stats?.().catch(() => undefined);
    const labels = [claim?.namespace ?? '', claim?.name ?? ''] as const;
    if (known?.bytes) {
      capacity(known.bytes.total, ...labels);
      available(known.bytes.available, ...labels);
      used(known.bytes.used, ...labels);
    }
    if (known?.inodes) {
      inodes(known.inodes.total, ...labels);
      inodesFree(known.inodes.available, ...labels);
      inodesUsed(known.inodes.used, ...labels);
    }
  }
}

/** Sets one sample: the registry is made anew for each scrape, and totals are the kernel's own. */
export type Set = (value: number, ...labels: string[]) => void;

type Maker = (name: string, help: string, labels?: readonly string[]) => Set;

export const gauges =
  (metrics: Metrics): Maker =>
  (name, help, labels = []) => {
    const gauge = metrics.gauge({ name, help, labels });
    return (value, ...values) => gauge.set(value, ...values);
  };
export const counters =
  (metrics: Metrics): Maker =>
  (name, help, labels = []) => {
    const counter = metrics.counter({ name, help, labels });
    return (value, ...values) => counter.inc(value, ...values);
  };

export interface Measured {
  record: PodRecord;
  container: ContainerRecord;
  usage: ContainerUsage;
}

/** The running containers and what they use. */
export async function measure({ parts: { runtime } }: ServedKubelet): Promise<Measured[]> {
  const used = await runtime.usage();
  return (await runtime.list()).flatMap((record) =>
    record.containers.flatMap((container) => {
      const usage = container.state === 'running' ? used.get(container.id) : undefined;
      return usage ? [{ record, container, usage }] : [];
    }),
  );
}

export const seconds = (nanoseconds: number | undefined): number => (nanoseconds ?? 0) / 1e9;

function podMetrics(metrics: Metrics, measured: readonly Measured[]): void {
  const [gauge, counter] = [gauges(metrics), counters(metrics)];
  const own = ['container', 'namespace', 'pod'];
  const ofPod = ['namespace', 'pod'];
  const cpu = counter('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the container in core-seconds', own);
  const memory = gauge('container_memory_working_set_bytes', 'Current working set of the container in bytes', own);
  const start = gauge('container_start_time_seconds', 'Start time of the container since unix epoch in seconds', own);
  const podCpu = counter('pod_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the pod in core-seconds', ofPod);
  const podMemory = gauge('pod_memory_working_set_bytes', 'Current working set of the pod in bytes', ofPod);
  const pods = new Map<PodRecord, number>();
  for (const { record, container, usage } of measured) {
    const { namespace, name } = record;
    cpu(seconds(usage.cpuUsageCoreNanoSeconds), container.name, namespace, name);
    memory(usage.memoryWorkingSetBytes ?? 0, container.name, namespace, name);
    start(container.startedAtMs / 1000, container.name, namespace, name);
    podCpu(seconds(usage.cpuUsageCoreNanoSeconds), namespace, name);
    pods.set(record, (pods.get(record) ?? 0) + (usage.memoryWorkingSetBytes ?? 0));
  }
  for (const [{ namespace, name }, bytes] of pods) podMemory(bytes, namespace, name);
}

/** The text of GET /metrics/resource, which metrics-server reads. */
export async function resourceMetrics(kubelet: ServedKubelet): Promise<string> {
  const metrics = createMetrics();
  podMetrics(metrics, await measure(kubelet));
  const node = await usageOfNode(kubelet.parts.runtime, kubelet.parts.clock);
  const help = 'Cumulative cpu time consumed by the node in core-seconds';
  counters(metrics)('node_cpu_usage_seconds_total', help)(seconds(node.cpuUsageCoreNanoSeconds));
  const memory = gauges(metrics)('node_memory_working_set_bytes', 'Current working set of the node in bytes');
  memory(node.memoryWorkingSetBytes ?? 0);
  gauges(metrics)('resource_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise')(0);
  return metrics.expose();
}
