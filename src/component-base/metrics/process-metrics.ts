// What a process takes of its machine, by the names of the Prometheus client of Go (process collector) and of Node.js's own
// (nodejs_*). Read when somebody scrapes; on systems without /proc only what Node.js itself knows.
import { readdirSync, readFileSync } from 'node:fs';
import type { Metrics } from './metrics.ts';

const clockTicksPerSecond = 100;
const microseconds = 1e-6;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

const openDescriptors = (): number | undefined => {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
};

const numberAfter = (text: string, pattern: RegExp): number | undefined => {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Seconds since the epoch, as the kernel knows them: a clock that was set meanwhile does not count. */
function startSeconds(): number | undefined {
  const bootSeconds = numberAfter(textOf('/proc/stat'), /^btime (\d+)/m);
  const startTicks = Number(textOf('/proc/self/stat').split(') ')[1]?.split(' ')[19]);
  return bootSeconds === undefined || !Number.isFinite(startTicks) ? undefined : bootSeconds + startTicks / clockTicksPerSecond;
}

/** Adds the metric that says when the process was started. */
export function processStart(metrics: Metrics): void {
  const started = startSeconds();
  const gauge = metrics.gauge({
    ...{ name: 'process_start_time_seconds', help: 'Start time of the process since unix epoch in seconds.' },
  });
  if (started !== undefined) gauge.set(started);
}

/** Adds them all to a registry. */
export function processMetrics(metrics: Metrics): void {
  processStart(metrics);
  const gauge = (name: string, help: string, read: () => number | undefined): void => {
    metrics.gauge({
      ...{ name, help },
      collect(made) {
        const value = read();
        if (value !== undefined) made.set(value);
      },
    });
  };
  gauge('process_open_fds', 'Number of open file descriptors.', openDescriptors);
  gauge('process_max_fds', 'Maximum number of open file descriptors.', () =>
    numberAfter(textOf('/proc/self/limits'), /^Max open files\s+(\d+)/m),
  );
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => {
    const kib = numberAfter(textOf('/proc/self/status'), /^VmSize:\s+(\d+)/m);
    return kib === undefined ? undefined : kib * 1024;
  });
  gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => process.memoryUsage().heapTotal);
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external);
  const cpu = metrics.counter({
    ...{ name: 'process_cpu_seconds_total', help: 'Total user and system CPU time spent in seconds.' },
    collect(made) {
      const { user, system } = process.cpuUsage();
      made.inc((user + system) * microseconds - made.value());
    },
  });
  cpu.inc(0);
}
