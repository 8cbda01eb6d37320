// GET /metrics/cadvisor: what the kernel reports of the node, its pods and their containers, in cAdvisor's families and types
// (github.com/google/cadvisor, metrics/prometheus.go; the sets of metrics that a kubelet enables).
import type { Pod } from '#api/core/v1';
import { createMetrics, gitVersion, type Metrics } from '#component-base';
import { findContainer } from '#component-helpers/pod';
import type { ServedKubelet } from './served.ts';
import type { Machine } from '../node/status.ts';
import { containerResources } from '../runtime/containerd/resources.ts';
import { type CgroupReading, descriptorsOf, interfacesOf, processesOf, readCgroup } from '../stats/cgroup-reading.ts';
import type { InterfaceCounts } from '../stats/cgroup-text.ts';
import { byteFamilies, counterFamilies, interfaceFamilies, type ReadingFamily } from './cadvisor-families.ts';
import { counters, gauges, type Measured, measure, seconds, type Set } from './metrics.ts';

const labelNames = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

/** Values of `labelNames`. */
type Labels = readonly string[];

const ofCgroup = (id: string): Labels => ['', id, '', '', '', ''];

/** Sets one sample of each family that a reading has a value for. */
function readingMetrics(metrics: Metrics): (reading: CgroupReading, labels: Labels) => void {
  const setters = (families: readonly ReadingFamily[], make: typeof gauges): [ReadingFamily, Set][] =>
    families.map((family) => [
      family,
      make(metrics)(family.name, family.help, [...labelNames, ...Object.keys(family.more ?? {})]),
    ]);
  const all = [...setters(counterFamilies, counters), ...setters(byteFamilies, gauges)];
  const device = [...labelNames, 'device'];
  const counter = (name: string, help: string, labels: string[]): Set => counters(metrics)(name, help, labels);
  const reads = counter('container_fs_reads_total', 'Cumulative count of reads completed', device);
  const writes = counter('container_fs_writes_total', 'Cumulative count of writes completed', device);
  const readBytes = counter('container_fs_reads_bytes_total', 'Cumulative count of bytes read', device);
  const writtenBytes = counter('container_fs_writes_bytes_total', 'Cumulative count of bytes written', device);
  const usage = counter('container_blkio_device_usage_total', 'Blkio Device bytes usage', [
    ...device,
    'major',
    'minor',
    'operation',
  ]);
  return (reading, labels) => {
    for (const [{ value, more = {} }, set] of all) {
      const found = value(reading);
      if (found !== undefined) set(found, ...labels, ...Object.values(more));
    }
    for (const { device: number, ...io } of reading.io) {
      const [major = '', minor = ''] = number.split(':');
      reads(io.reads, ...labels, number);
      writes(io.writes, ...labels, number);
      readBytes(io.readBytes, ...labels, number);
      writtenBytes(io.writtenBytes, ...labels, number);
      usage(io.readBytes, ...labels, number, major, minor, 'Read');
      usage(io.writtenBytes, ...labels, number, major, minor, 'Write');
    }
  };
}

function networkMetrics(metrics: Metrics): (interfaces: readonly InterfaceCounts[], labels: Labels) => void {
  const families = interfaceFamilies.map(
    ({ name, help, value }) => [value, counters(metrics)(name, help, [...labelNames, 'interface'])] as const,
  );
  return (interfaces, labels) => {
    for (const one of interfaces) for (const [value, set] of families) set(value(one), ...labels, one.name);
  };
}

interface UsageSetters {
  /** What the runtime says of a container, whether or not it has a cgroup that can be read. */
  container(measured: Measured, labels: Labels): void;
  /** What the kernel says of a pod, or of all. */
  cgroup(reading: CgroupReading, labels: Labels): void;
}

function usageMetrics(metrics: Metrics, now: number): UsageSetters {
  const gauge = (name: string, help: string): Set => gauges(metrics)(name, help, labelNames);
  const cpu = counters(metrics)('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.', [
    ...labelNames,
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
  const failures = counters(metrics)('container_memory_failures_total', 'Cumulative count of memory allocation failures.', [
    ...labelNames,
    'failure_type',
    'scope',
  ]);
  return {
    container({ usage, container }, labels) {
      cpu(seconds(usage.cpuUsageCoreNanoSeconds), ...labels, 'total');
      usageBytes(usage.memoryUsageBytes ?? 0, ...labels);
      workingSet(usage.memoryWorkingSetBytes ?? 0, ...labels);
      rss(usage.memoryRssBytes ?? 0, ...labels);
      disk(usage.writableLayerBytes ?? 0, ...labels);
      start(container.startedAtMs / 1000, ...labels);
      seen(Math.floor(now / 1000), ...labels);
    },
    cgroup({ cpu: used, memory }, labels) {
      if (used.totalNs !== undefined) cpu(seconds(used.totalNs), ...labels, 'total');
      if (memory.usage !== undefined) {
        usageBytes(memory.usage, ...labels);
        workingSet(Math.max(0, memory.usage - (memory.inactiveFile ?? 0)), ...labels);
      }
      if (memory.rss !== undefined) rss(memory.rss, ...labels);
      if (memory.pageFaults !== undefined) failures(memory.pageFaults, ...labels, 'pgfault', 'hierarchy');
      if (memory.majorPageFaults !== undefined) failures(memory.majorPageFaults, ...labels, 'pgmajfault', 'hierarchy');
      seen(Math.floor(now / 1000), ...labels);
    },
  };
}

/** What containers are allowed, as their pods say. */
function limitMetrics(metrics: Metrics, memoryCapacityBytes: number): (pod: Pod, name: string, labels: Labels) => void {
  const gauge = (name: string, help: string): Set => gauges(metrics)(name, help, labelNames);
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

function processMetrics(metrics: Metrics): (pids: readonly string[], labels: Labels) => Promise<void> {
  const gauge = (name: string, help: string): Set => gauges(metrics)(name, help, labelNames);
  const processes = gauge('container_processes', 'Number of processes running inside the container.');
  const files = gauge('container_file_descriptors', 'Number of open file descriptors for the container.');
  const sockets = gauge('container_sockets', 'Number of open sockets for the container.');
  return async (pids, labels) => {
    const open = await descriptorsOf(pids);
    processes(pids.length, ...labels);
    files(open.files, ...labels);
    sockets(open.sockets, ...labels);
  };
}

function machineMetrics(metrics: Metrics, { cpuMillis, memoryBytes, kernelVersion, osImage }: Machine): void {
  const gauge = gauges(metrics);
  const names = ['cadvisorRevision', 'cadvisorVersion', 'dockerVersion', 'kernelVersion', 'osVersion'];
  const help =
    "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";
  gauge('cadvisor_version_info', help, names)(1, '', gitVersion, '', kernelVersion, osImage);
  gauge('machine_cpu_cores', 'Number of logical CPU cores.')(cpuMillis / 1000);
  gauge('machine_memory_bytes', 'Amount of memory installed on the machine.')(memoryBytes);
  gauge('machine_scrape_error', '1 if there was an error while getting machine metrics, 0 otherwise.')(0);
  gauge('container_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise')(0);
}

export async function cadvisorMetrics(kubelet: ServedKubelet): Promise<string> {
  const metrics = createMetrics();
  const { parts, workers } = kubelet;
  const machine = await parts.machine();
  const told = usageMetrics(metrics, parts.clock.now());
  const limits = limitMetrics(metrics, machine.memoryBytes);
  const [read, network, processes] = [readingMetrics(metrics), networkMetrics(metrics), processMetrics(metrics)];
  const version = parts.cgroups?.version;
  const pods = new Map<string, { cgroup: string; labels: Labels; pid?: string }>();
  for (const measured of await measure(kubelet)) {
    const { record, container } = measured;
    const pod = workers.get(record.uid)?.pod;
    const parent = (pod && parts.cgroups?.parentOf(pod)) || `/kubepods/pod${record.uid}`;
    const id = `${parent}/${container.id}`;
    const labels = [container.name, id, container.image, container.id, record.namespace, record.name];
    told.container(measured, labels);
    if (pod) limits(pod, container.name, labels);
    if (version === undefined) continue;
    const pids = await processesOf(version, id);
    read(await readCgroup(version, id), labels);
    await processes(pids, labels);
    const sandbox = record.sandboxes[0];
    const ofPod = ['', parent, '', sandbox?.id ?? '', record.namespace, record.name];
    const [pid] = sandbox?.hostNetwork ? [] : pids;
    if (!pods.get(parent)?.pid) pods.set(parent, { cgroup: parent, labels: ofPod, ...(pid !== undefined && { pid }) });
  }
  const whole = async (of: 1 | 2, path: string, labels: Labels): Promise<void> => {
    const reading = await readCgroup(of, path);
    told.cgroup(reading, labels);
    read(reading, labels);
  };
  for (const { cgroup, labels, pid } of pods.values()) {
    if (version !== undefined) await whole(version, cgroup, ['', cgroup, '', '', ...labels.slice(4)]);
    if (pid !== undefined) network(await interfacesOf(pid), labels);
  }
  if (version !== undefined) {
    await whole(version, '/', ofCgroup('/'));
    network(await interfacesOf('self'), ofCgroup('/'));
  }
  machineMetrics(metrics, machine);
  return metrics.expose();
}
