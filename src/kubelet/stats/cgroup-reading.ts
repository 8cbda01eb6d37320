// What the kernel reports of one cgroup, in both versions (https://docs.kernel.org/admin-guide/cgroup-v1/, cgroup-v2.html), and of the processes in
// it.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { deviceLines, flatKeyed, type InterfaceCounts, interfaceCounts, type IoCounts, pressureTotals } from './cgroup-text.ts';

export interface CgroupReading {
  cpu: { totalNs?: number; userNs?: number; systemNs?: number };
  throttling?: { periods: number; throttledPeriods: number; throttledNs: number };
  memory: {
    usage?: number;
    maxUsage?: number;
    failures?: number;
    cache?: number;
    rss?: number;
    swap?: number;
    mappedFile?: number;
    activeFile?: number;
    inactiveFile?: number;
    kernel?: number;
    pageFaults?: number;
    majorPageFaults?: number;
    oomKills?: number;
  };
  io: IoCounts[];
  threads?: { current: number; max?: number };
  /** Seconds that some, or all, waited for a resource. */
  pressure: Partial<Record<'cpu' | 'memory' | 'io', { some: number; full: number }>>;
}

const mountPoint = '/sys/fs/cgroup';
/** `USER_HZ` of every architecture that Linux runs on today. */
const tickNs = 10_000_000;
/** Descriptors of a container are counted in so many of its processes. */
const processesLookedAtMax = 256;

const read = (...path: string[]): Promise<string> => readFile(join(mountPoint, ...path), 'utf8').catch(() => '');
const number = (text: string): number | undefined => (/^\d+\s*$/.test(text) ? Number(text) : undefined);
const times = (value: number | undefined, by: number): number | undefined => (value === undefined ? undefined : value * by);

/** Only what is known. */
const known = <T extends object>(values: T): { [K in keyof T]: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

function throttlingOf(stat: Record<string, number>, unit: number, name: string): CgroupReading['throttling'] {
  const { nr_periods: periods, nr_throttled: throttledPeriods } = stat;
  const throttled = stat[name];
  if (periods === undefined || throttledPeriods === undefined || throttled === undefined) return undefined;
  return { periods, throttledPeriods, throttledNs: throttled * unit };
}

async function readV1(path: string): Promise<CgroupReading> {
  const [total, ticks, cpuStat, usage, maxUsage, failures, stat, kernel, oom, blkio, count, max] = await Promise.all([
    read('cpuacct', path, 'cpuacct.usage'),
    read('cpuacct', path, 'cpuacct.stat'),
    read('cpu', path, 'cpu.stat'),
    read('memory', path, 'memory.usage_in_bytes'),
    read('memory', path, 'memory.max_usage_in_bytes'),
    read('memory', path, 'memory.failcnt'),
    read('memory', path, 'memory.stat'),
    read('memory', path, 'memory.kmem.usage_in_bytes'),
    read('memory', path, 'memory.oom_control'),
    Promise.all(['io_service_bytes', 'io_serviced'].map((name) => read('blkio', path, `blkio.throttle.${name}`))),
    read('pids', path, 'pids.current'),
    read('pids', path, 'pids.max'),
  ]);
  const [m, t] = [flatKeyed(stat), flatKeyed(ticks)];
  const threads = number(count);
  return {
    cpu: known({ totalNs: number(total), userNs: times(t['user'], tickNs), systemNs: times(t['system'], tickNs) }),
    throttling: throttlingOf(flatKeyed(cpuStat), 1, 'throttled_time'),
    memory: known({
      usage: number(usage),
      maxUsage: number(maxUsage),
      failures: number(failures),
      cache: m['total_cache'],
      rss: m['total_rss'],
      swap: m['total_swap'],
      mappedFile: m['total_mapped_file'],
      activeFile: m['total_active_file'],
      inactiveFile: m['total_inactive_file'],
      kernel: number(kernel),
      pageFaults: m['total_pgfault'],
      majorPageFaults: m['total_pgmajfault'],
      oomKills: flatKeyed(oom)['oom_kill'],
    }),
    io: deviceLines(blkio[0] ?? '', blkio[1] ?? ''),
    ...(threads !== undefined && { threads: { current: threads, ...known({ max: number(max) }) } }),
    pressure: {},
  };
}

async function readV2(path: string): Promise<CgroupReading> {
  const names = ['cpu.stat', 'memory.current', 'memory.peak', 'memory.stat', 'memory.swap.current', 'memory.events', 'io.stat'];
  const [cpuStat = '', usage = '', peak = '', stat = '', swap = '', events = '', io = ''] = await Promise.all(
    names.map((name) => read(path, name)),
  );
  const [count, max] = await Promise.all([read(path, 'pids.current'), read(path, 'pids.max')]);
  const [c, m, e] = [flatKeyed(cpuStat), flatKeyed(stat), flatKeyed(events)];
  const threads = number(count);
  const pressure: CgroupReading['pressure'] = {};
  for (const resource of ['cpu', 'memory', 'io'] as const) {
    const totals = pressureTotals(await read(path, `${resource}.pressure`));
    if (totals) pressure[resource] = totals;
  }
  return {
    cpu: known({
      totalNs: times(c['usage_usec'], 1000),
      userNs: times(c['user_usec'], 1000),
      systemNs: times(c['system_usec'], 1000),
    }),
    throttling: throttlingOf(c, 1000, 'throttled_usec'),
    memory: known({
      usage: number(usage),
      maxUsage: number(peak),
      failures: e['max'],
      cache: m['file'],
      rss: m['anon'],
      swap: number(swap),
      mappedFile: m['file_mapped'],
      activeFile: m['active_file'],
      inactiveFile: m['inactive_file'],
      kernel: m['kernel'],
      pageFaults: m['pgfault'],
      majorPageFaults: m['pgmajfault'],
      oomKills: e['oom_kill'],
    }),
    io: deviceLines(io),
    ...(threads !== undefined && { threads: { current: threads, ...known({ max: number(max) }) } }),
    pressure,
  };
}

export const readCgroup = (version: 1 | 2, path: string): Promise<CgroupReading> => (version === 1 ? readV1(path) : readV2(path));

export async function processesOf(version: 1 | 2, path: string): Promise<string[]> {
  const text = await read(...(version === 1 ? ['memory'] : []), path, 'cgroup.procs');
  return text.split('\n').filter((line) => line !== '');
}

/** Open descriptors of these processes, and how many of them are sockets. */
export async function descriptorsOf(pids: readonly string[]): Promise<{ files: number; sockets: number }> {
  let [files, sockets] = [0, 0];
  for (const pid of pids.slice(0, processesLookedAtMax)) {
    const folder = `/proc/${pid}/fd`;
    const names = await readdir(folder).catch(() => [] as string[]);
    files += names.length;
    const targets = await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')));
    sockets += targets.filter((target) => target.startsWith('socket:')).length;
  }
  return { files, sockets };
}

/** Interfaces of the network that the process is in, without loopback. */
export const interfacesOf = async (pid: string): Promise<InterfaceCounts[]> =>
  interfaceCounts(await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => ''));
