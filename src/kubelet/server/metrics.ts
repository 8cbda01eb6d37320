// GET /metrics and /metrics/resource (upstream pkg/kubelet/metrics, collectors/resource_metrics.go): what metrics-server and scrapers read.
import { createMetrics, gitVersion } from '#component-base';
import type { ContainerRecord, PodRecord } from '../container/types.ts';
import type { Kubelet } from '../kubelet.ts';
import type { ContainerUsage } from '../runtime/types.ts';
import { nodeUsage } from '../stats/node-usage.ts';

/** The kubelet's own metrics, gathered when asked for. */
export async function kubeletMetrics(kubelet: Kubelet): Promise<string> {
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
  const build = metrics.gauge({
    name: 'kubernetes_build_info',
    help: 'A metric with a constant 1 value.',
    labels: ['git_version'],
  });
  build.set(1, gitVersion);
  return metrics.expose();
}

/** A gauge over counters the kernel keeps: totals are set, not counted here. */
type Set = (value: number, ...labels: string[]) => void;

interface Measured {
  record: PodRecord;
  container: ContainerRecord;
  usage: ContainerUsage;
}

/** Running containers with what they use. */
async function measure({ parts: { runtime } }: Kubelet): Promise<Measured[]> {
  const used = await runtime.usage();
  return (await runtime.list()).flatMap((record) =>
    record.containers.flatMap((container) => {
      const usage = container.state === 'running' ? used.get(container.id) : undefined;
      return usage ? [{ record, container, usage }] : [];
    }),
  );
}

const seconds = (nanoseconds: number | undefined): number => (nanoseconds ?? 0) / 1e9;

/** GET /metrics/resource: what metrics-server reads. */
export async function resourceMetrics(kubelet: Kubelet): Promise<string> {
  const metrics = createMetrics();
  const make = (name: string, help: string, labels: string[] = []): Set => {
    const gauge = metrics.gauge({ name, help, labels });
    return (value, ...values) => gauge.set(value, ...values);
  };
  const own = ['container', 'namespace', 'pod'];
  const ofPod = ['namespace', 'pod'];
  const cpu = make('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the container in core-seconds', own);
  const memory = make('container_memory_working_set_bytes', 'Current working set of the container in bytes', own);
  const start = make('container_start_time_seconds', 'Start time of the container since unix epoch in seconds', own);
  const podCpu = make('pod_cpu_usage_seconds_total', 'Cumulative cpu time consumed by the pod in core-seconds', ofPod);
  const podMemory = make('pod_memory_working_set_bytes', 'Current working set of the pod in bytes', ofPod);
  const pods = new Map<PodRecord, { cpu: number; memory: number }>();
  for (const { record, container, usage } of await measure(kubelet)) {
    const { namespace, name } = record;
    const used = { cpu: seconds(usage.cpuUsageCoreNanoSeconds), memory: usage.memoryWorkingSetBytes ?? 0 };
    cpu(used.cpu, container.name, namespace, name);
    memory(used.memory, container.name, namespace, name);
    start(container.startedAtMs / 1000, container.name, namespace, name);
    const sum = pods.get(record) ?? { cpu: 0, memory: 0 };
    pods.set(record, { cpu: sum.cpu + used.cpu, memory: sum.memory + used.memory });
  }
  for (const [{ namespace, name }, sum] of pods) {
    podCpu(sum.cpu, namespace, name);
    podMemory(sum.memory, namespace, name);
  }
  if (!kubelet.parts.runtime.simulated) {
    const node = await nodeUsage(kubelet.parts.clock);
    const help = 'Cumulative cpu time consumed by the node in core-seconds';
    make('node_cpu_usage_seconds_total', help)(seconds(node.cpuUsageCoreNanoSeconds));
    make('node_memory_working_set_bytes', 'Current working set of the node in bytes')(node.memoryWorkingSetBytes ?? 0);
  }
  const failed = '1 if there was an error while getting container metrics, 0 otherwise';
  make('resource_scrape_error', failed)(0);
  return metrics.expose();
}

/** GET /metrics/cadvisor: the part of cadvisor's metrics that the runtime tells. */
export async function cadvisorMetrics(kubelet: Kubelet): Promise<string> {
  const metrics = createMetrics();
  const labels = ['container', 'id', 'image', 'name', 'namespace', 'pod'];
  const make = (name: string, help: string): Set => {
    const gauge = metrics.gauge({ name, help, labels });
    return (value, ...values) => gauge.set(value, ...values);
  };
  const cpu = make('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.');
  const usageBytes = make(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
  );
  const workingSet = make('container_memory_working_set_bytes', 'Current working set in bytes.');
  const rss = make('container_memory_rss', 'Size of RSS in bytes.');
  const disk = make('container_fs_usage_bytes', 'Number of bytes that are consumed by the container on this filesystem.');
  const start = make('container_start_time_seconds', 'Start time of the container since unix epoch in seconds.');
  for (const { record, container, usage } of await measure(kubelet)) {
    const { id, name, image, startedAtMs } = container;
    const values = [name, `/kubepods/pod${record.uid}/${id}`, image, id, record.namespace, record.name];
    cpu(seconds(usage.cpuUsageCoreNanoSeconds), ...values);
    usageBytes(usage.memoryUsageBytes ?? 0, ...values);
    workingSet(usage.memoryWorkingSetBytes ?? 0, ...values);
    rss(usage.memoryRssBytes ?? 0, ...values);
    disk(usage.writableLayerBytes ?? 0, ...values);
    start(startedAtMs / 1000, ...values);
  }
  const { cpuMillis, memoryBytes } = await kubelet.parts.machine();
  metrics.gauge({ name: 'machine_cpu_cores', help: 'Number of logical CPU cores.' }).set(cpuMillis / 1000);
  metrics.gauge({ name: 'machine_memory_bytes', help: 'Amount of memory installed on the machine.' }).set(memoryBytes);
  return metrics.expose();
}
