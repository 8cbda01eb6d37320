// CPU and memory of the whole node: of its root cgroup, which is the node's own where nodes share a machine; else of the machine
// (upstream cadvisor's container "/").
import { readFile } from 'node:fs/promises';
import type { Clock } from '#utils';
import type { ContainerUsage, PodRuntime } from '../container/runtime.ts';
import { CpuRates } from './cpu-rates.ts';

const root = '/sys/fs/cgroup';
const tickNs = 10_000_000;
const rates = new WeakMap<Clock, CpuRates>();

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
const field = (text: string, name: string): number | undefined => {
  const found = new RegExp(`^${name}:?\\s+(\\d+)`, 'm').exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Nanoseconds of CPU used since the start. */
async function cpuTotal(): Promise<number> {
  const v1 = await read(`${root}/cpuacct/cpuacct.usage`);
  if (v1.trim() !== '') return Number(v1);
  const micros = field(await read(`${root}/cpu.stat`), 'usage_usec');
  if (micros !== undefined) return micros * 1000;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ((await read('/proc/stat')).split('\n')[0] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) * tickNs;
}

async function memory(): Promise<Pick<ContainerUsage, 'memoryUsageBytes' | 'memoryWorkingSetBytes' | 'memoryRssBytes'>> {
  const used = await read(`${root}/memory/memory.usage_in_bytes`);
  if (used.trim() !== '') {
    const stat = await read(`${root}/memory/memory.stat`);
    const inactive = field(stat, 'total_inactive_file') ?? 0;
    return {
      memoryUsageBytes: Number(used),
      memoryWorkingSetBytes: Math.max(0, Number(used) - inactive),
      memoryRssBytes: field(stat, 'total_rss'),
    };
  }
  const info = await read('/proc/meminfo');
  const bytes = (name: string): number => (field(info, name) ?? 0) * 1024;
  const usage = bytes('MemTotal') - bytes('MemFree');
  return {
    memoryUsageBytes: usage,
    memoryWorkingSetBytes: Math.max(0, usage - bytes('Inactive\\(file\\)')),
    memoryRssBytes: bytes('AnonPages'),
  };
}

/** What the node uses, as the runtime reports it where this machine is not the node's own. */
export const usageOfNode = (runtime: PodRuntime, clock: Clock): Promise<ContainerUsage> =>
  runtime.nodeUsage?.() ?? nodeUsage(clock);

/** What the node uses now; the rate is since the reading before (by the same clock). */
export async function nodeUsage(clock: Clock): Promise<ContainerUsage> {
  const known = rates.get(clock) ?? new CpuRates();
  rates.set(clock, known);
  const total = await cpuTotal();
  return {
    cpuUsageCoreNanoSeconds: total,
    cpuNanoCores: known.rate('/', total, clock.monotonic() * 1e6),
    ...(await memory()),
  };
}
