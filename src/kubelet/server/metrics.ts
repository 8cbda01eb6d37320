// GET /metrics and /metrics/resource (upstream pkg/kubelet/metrics, collectors/resource_metrics.go): what metrics-server and scrapers read.
import type { Pod } from '#api/core/v1';
import { createMetrics, gitVersion, type Metrics } from '#component-base';
import { findContainer } from '#component-helpers/pod';
import type { ContainerRecord, PodRecord } from '../container/types.ts';
import type { Kubelet } from '../kubelet.ts';
import { containerResources } from '../runtime/containerd/resources.ts';
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

/** Sets one sample: the registry is made anew for each scrape, and totals are the kernel's own. */
type Set = (value: number, ...labels: string[]) => void;

type Maker = (name: string, help: string, labels?: readonly string[]) => Set;

const gauges =
  (metrics: Metrics): Maker =>
  (name, help, labels = []) => {
    const gauge = metrics.gauge({ name, help, labels });
    return (value, ...values) => gauge.set(value, ...values);
  };
const counters =
  (metrics: Metrics): Maker =>
  (name, help, labels = []) => {
    const counter = metrics.counter({ name, help, labels });
    return (value, ...values) => counter.inc(value, ...values);
  };

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

/** GET /metrics/resource: what metrics-server reads. */
export async function resourceMetrics(kubelet: Kubelet): Promise<string> {
  const metrics = createMetrics();
  podMetrics(metrics, await measure(kubelet));
  if (!kubelet.parts.runtime.simulated) {
    const node = await nodeUsage(kubelet.parts.clock);
    const help = 'Cumulative cpu time consumed by the node in core-seconds';
    counters(metrics)('node_cpu_usage_seconds_total', help)(seconds(node.cpuUsageCoreNanoSeconds));
    const memory = gauges(metrics)('node_memory_working_set_bytes', 'Current working set of the node in bytes');
    memory(node.memoryWorkingSetBytes ?? 0);
  }
  gauges(metrics)('resource_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise')(0);
  return metrics.expose();
}

const cadvisorLabels = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

function usageMetrics(metrics: Metrics, now: number): (measured: Measured, labels: string[]) => void {
  const gauge = (name: string, help: string): Set => gauges(metrics)(name, help, cadvisorLabels);
  const counter = counters(metrics);
  const cpu = counter('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.', [
    ...cadvisorLabels,
    'cpu',
  ]);
  const usageBytes = gauge(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
  );
  const workingSet = gauge('container_memory_working_set_bytes', 'Current working set in bytes.');
  const rss = gauge('container_memory_rss', 'Size of RSS in bytes.');
  const disk = gauge('container_fs_usage_bytes', 'Number of bytes that are consumed by the container on this filesystem.');
  const start = gauge('container_start_time_seconds', 'Start time of the container since unix epoch in seconds.');
  const seen = gauge('container_last_seen', 'Last time a container was seen by the exporter');
  return ({ usage, container }, labels) => {
    cpu(seconds(usage.cpuUsageCoreNanoSeconds), ...labels, 'total');
    usageBytes(usage.memoryUsageBytes ?? 0, ...labels);
    workingSet(usage.memoryWorkingSetBytes ?? 0, ...labels);
    rss(usage.memoryRssBytes ?? 0, ...labels);
    disk(usage.writableLayerBytes ?? 0, ...labels);
    start(container.startedAtMs / 1000, ...labels);
    seen(Math.floor(now / 1000), ...labels);
  };
}

/** What containers are allowed, as their pods say. */
function limitMetrics(metrics: Metrics, memoryCapacityBytes: number): (pod: Pod, name: string, labels: string[]) => void {
  const gauge = (name: string, help: string): Set => gauges(metrics)(name, help, cadvisorLabels);
  const period = gauge('container_spec_cpu_period', 'CPU period of the container.');
  const quota = gauge('container_spec_cpu_quota', 'CPU quota of the container.');
  const shares = gauge('container_spec_cpu_shares', 'CPU share of the container.');
  const limit = gauge('container_spec_memory_limit_bytes', 'Memory limit for the container.');
  return (pod, name, labels) => {
    const container = findContainer(pod, name);
    if (container === undefined) return;
    const allowed = containerResources(pod, container, memoryCapacityBytes);
    period(Number(allowed.cpuPeriod ?? 0), ...labels);
    if (Number(allowed.cpuQuota ?? 0) > 0) quota(Number(allowed.cpuQuota), ...labels);
    shares(Number(allowed.cpuShares ?? 0), ...labels);
    limit(Number(allowed.memoryLimitInBytes ?? 0), ...labels);
  };
}

/** GET /metrics/cadvisor: the part of cadvisor's metrics that the runtime and the pods tell. */
export async function cadvisorMetrics(kubelet: Kubelet): Promise<string> {
  const metrics = createMetrics();
  const { cpuMillis, memoryBytes } = await kubelet.parts.machine();
  const told = usageMetrics(metrics, kubelet.parts.clock.now());
  const limits = limitMetrics(metrics, memoryBytes);
  for (const measured of await measure(kubelet)) {
    const { record, container } = measured;
    const id = `/kubepods/pod${record.uid}/${container.id}`;
    const labels = [container.name, id, container.image, container.id, record.namespace, record.name];
    told(measured, labels);
    const pod = kubelet.workers.get(record.uid)?.pod;
    if (pod) limits(pod, container.name, labels);
  }
  const gauge = gauges(metrics);
  gauge('machine_cpu_cores', 'Number of logical CPU cores.')(cpuMillis / 1000);
  gauge('machine_memory_bytes', 'Amount of memory installed on the machine.')(memoryBytes);
  gauge('container_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise')(0);
  return metrics.expose();
}
