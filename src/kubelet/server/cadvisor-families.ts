// Names, types and sources of what /metrics/cadvisor says of a cgroup and of an interface. Pure.
import type { CgroupReading } from '../stats/cgroup-reading.ts';
import type { InterfaceCounts } from '../stats/cgroup-text.ts';

export interface ReadingFamily {
  name: string;
  help: string;
  /** Further labels, the same for all samples that this gives. */
  more?: Record<string, string>;
  value(reading: CgroupReading): number | undefined;
}

const inSeconds = (nanoseconds: number | undefined): number | undefined =>
  nanoseconds === undefined ? undefined : nanoseconds / 1e9;

const pressureFamilies = (['cpu', 'io', 'memory'] as const).flatMap((resource): ReadingFamily[] => [
  {
    name: `container_pressure_${resource}_waiting_seconds_total`,
    help: `Total time duration tasks in the container have waited due to ${resource} congestion.`,
    value: ({ pressure }) => pressure[resource]?.some,
  },
  {
    name: `container_pressure_${resource}_stalled_seconds_total`,
    help: `Total time duration no tasks in the container could make progress due to ${resource} congestion.`,
    value: ({ pressure }) => pressure[resource]?.full,
  },
]);

export const counterFamilies: readonly ReadingFamily[] = [
  {
    name: 'container_cpu_user_seconds_total',
    help: 'Cumulative user cpu time consumed in seconds.',
    value: ({ cpu }) => inSeconds(cpu.userNs),
  },
  {
    name: 'container_cpu_system_seconds_total',
    help: 'Cumulative system cpu time consumed in seconds.',
    value: ({ cpu }) => inSeconds(cpu.systemNs),
  },
  {
    name: 'container_cpu_cfs_periods_total',
    help: 'Number of elapsed enforcement period intervals.',
    value: ({ throttling }) => throttling?.periods,
  },
  {
    name: 'container_cpu_cfs_throttled_periods_total',
    help: 'Number of throttled period intervals.',
    value: ({ throttling }) => throttling?.throttledPeriods,
  },
  {
    name: 'container_cpu_cfs_throttled_seconds_total',
    help: 'Total time duration the container has been throttled.',
    value: ({ throttling }) => inSeconds(throttling?.throttledNs),
  },
  {
    name: 'container_memory_failcnt',
    help: 'Number of memory usage hits limits',
    value: ({ memory }) => memory.failures,
  },
  {
    name: 'container_oom_events_total',
    help: 'Count of out of memory events observed for the container',
    value: ({ memory }) => memory.oomKills,
  },
  ...pressureFamilies,
];

export const byteFamilies: readonly ReadingFamily[] = [
  { name: 'container_memory_cache', help: 'Number of bytes of page cache memory.', value: ({ memory }) => memory.cache },
  { name: 'container_memory_swap', help: 'Container swap usage in bytes.', value: ({ memory }) => memory.swap },
  {
    name: 'container_memory_mapped_file',
    help: 'Size of memory mapped files in bytes.',
    value: ({ memory }) => memory.mappedFile,
  },
  {
    name: 'container_memory_max_usage_bytes',
    help: 'Maximum memory usage recorded in bytes',
    value: ({ memory }) => memory.maxUsage,
  },
  {
    name: 'container_memory_kernel_usage',
    help: 'Size of kernel memory allocated in bytes.',
    value: ({ memory }) => memory.kernel,
  },
  {
    name: 'container_memory_total_active_file_bytes',
    help: 'Current total active file in bytes.',
    value: ({ memory }) => memory.activeFile,
  },
  {
    name: 'container_memory_total_inactive_file_bytes',
    help: 'Current total inactive file in bytes.',
    value: ({ memory }) => memory.inactiveFile,
  },
  {
    name: 'container_threads',
    help: 'Number of threads running inside the container',
    value: ({ threads }) => threads?.current,
  },
  {
    name: 'container_threads_max',
    help: 'Maximum number of threads allowed inside the container, infinity if value is zero',
    value: ({ threads }) => threads && (threads.max ?? 0),
  },
];

export interface InterfaceFamily {
  name: string;
  help: string;
  value(counts: InterfaceCounts): number;
}

const both = (
  what: string,
  received: string,
  sent: string,
  values: [keyof InterfaceCounts, keyof InterfaceCounts],
): InterfaceFamily[] => [
  { name: `container_network_receive_${what}_total`, help: received, value: (counts) => Number(counts[values[0]]) },
  { name: `container_network_transmit_${what}_total`, help: sent, value: (counts) => Number(counts[values[1]]) },
];

export const interfaceFamilies: readonly InterfaceFamily[] = [
  ...both('bytes', 'Cumulative count of bytes received', 'Cumulative count of bytes transmitted', ['receivedBytes', 'sentBytes']),
  ...both('packets', 'Cumulative count of packets received', 'Cumulative count of packets transmitted', [
    'receivedPackets',
    'sentPackets',
  ]),
  ...both(
    'packets_dropped',
    'Cumulative count of packets dropped while receiving',
    'Cumulative count of packets dropped while transmitting',
    ['receiveDropped', 'sendDropped'],
  ),
  ...both(
    'errors',
    'Cumulative count of errors encountered while receiving',
    'Cumulative count of errors encountered while transmitting',
    ['receiveErrors', 'sendErrors'],
  ),
];
