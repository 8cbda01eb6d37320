// GET /metrics and /metrics/resource (upstream pkg/kubelet/metrics, collectors/resource_metrics.go): what metrics-server and scrapers read.
import { createMetrics, gitVersion } from '#component-base';
import type { Kubelet } from '../kubelet.ts';

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

export async function resourceMetrics(kubelet: Kubelet): Promise<string> {
  const metrics = createMetrics();
  const { runtime } = kubelet.parts;
  const labels = ['container', 'namespace', 'pod'];
  const cpu = metrics.gauge({
    name: 'container_cpu_usage_seconds_total',
    help: 'Cumulative cpu time consumed by the container in core-seconds',
    labels,
  });
  const memory = metrics.gauge({
    name: 'container_memory_working_set_bytes',
    help: 'Current working set of the container in bytes',
    labels,
  });
  const usage = await runtime.usage();
  for (const { namespace, name, containers } of await runtime.list()) {
    for (const { id, name: container } of containers) {
      const used = usage.get(id);
      if (used === undefined) continue;
      cpu.set((used.cpuUsageCoreNanoSeconds ?? 0) / 1e9, container, namespace, name);
      memory.set(used.memoryWorkingSetBytes ?? 0, container, namespace, name);
    }
  }
  return metrics.expose();
}
