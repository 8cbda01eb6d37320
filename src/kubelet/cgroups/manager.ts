// The cgroup of every pod, below one per quality-of-service class (upstream pkg/kubelet/cm). The runtime puts containers below the pod's; it
// never removes the pod's own: that is done here. Both cgroup versions, cgroupfs naming.
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '#api/core/v1';
import { podLimits, podQos, podRequests } from '#component-helpers/pod';
import { isErrno } from '#host';
import type { Logger } from '#utils';
import { cpuPeriodUs, milliCpuToQuota, milliCpuToShares } from './cpu.ts';

const rootName = 'kubepods';

export interface CgroupManagerOptions {
  /** `--cgroup-root`: parent of `kubepods`. */
  root: string;
  /** Processes and threads of one pod; absent: not limited. */
  podPidsMax?: number;
  /** Where cgroups are mounted. */
  mountPoint?: string;
  logger: Logger;
}

interface Hierarchy {
  version: 1 | 2;
  /** Roots of the hierarchies that can be written: one per controller in version 1. */
  roots: string[];
}

/** The settings of a pod's cgroup; what is absent is not limited. */
export interface PodLimits {
  cpuShares: number;
  cpuQuotaUs?: number;
  memoryBytes?: number;
  pidsMax?: number;
}

/** A pod is limited where every container is (upstream ResourceConfigForPod). */
function podCgroupLimits(pod: Pod): PodLimits {
  const requests = podRequests(pod);
  const limits = podLimits(pod);
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const all = (name: string): boolean =>
    pod.spec?.resources?.limits?.[name] !== undefined ||
    containers.every(({ resources }) => resources?.limits?.[name] !== undefined);
  const cpuLimit = limits.get('cpu')?.milliValue() ?? 0;
  const memory = limits.get('memory')?.value() ?? 0;
  return {
    cpuShares: podQos(pod) === 'BestEffort' ? 2 : milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0),
    ...(all('cpu') && cpuLimit > 0 && { cpuQuotaUs: milliCpuToQuota(cpuLimit) }),
    ...(all('memory') && memory > 0 && { memoryBytes: memory }),
  };
}

const sharesToWeight = (shares: number): number => 1 + Math.floor(((shares - 2) * 9999) / 262_142);

export class CgroupManager {
  readonly #options: CgroupManagerOptions;
  #hierarchy: Hierarchy | undefined;

  constructor(options: CgroupManagerOptions) {
    this.#options = options;
  }

  /** The version of the cgroups in use; undefined where they cannot be written. */
  get version(): 1 | 2 | undefined {
    return this.#hierarchy?.version;
  }

  /** Bounds all pods together (upstream node allocatable). */
  async limitPods({ cpuMillis, memoryBytes }: { cpuMillis: number; memoryBytes: number }): Promise<void> {
    if (this.#hierarchy) await this.#set(this.#path(''), { cpuShares: milliCpuToShares(cpuMillis), memoryBytes });
  }
  /** Makes the class cgroups. Answers false, and does nothing from then on, where cgroups cannot be written. */
  async start(): Promise<boolean> {
    const hierarchy = await this.#discover();
    try {
      this.#hierarchy = hierarchy;
      for (const path of ['', '/besteffort', '/burstable']) await this.#make(this.#path(path));
      await this.#set(this.#path('/besteffort'), { cpuShares: 2 });
      return hierarchy.roots.length > 0;
    } catch (error) {
      this.#hierarchy = undefined;
      this.#options.logger.warn('cgroups cannot be written, pods run without cgroups of their own', { error: String(error) });
      return false;
    }
  }

  /** What the runtime is given as parent; '' where there are no pod cgroups. */
  parentOf(pod: Pod): string {
    return this.#hierarchy === undefined ? '' : this.#podPath(pod);
  }
  async ensurePod(pod: Pod): Promise<void> {
    if (this.#hierarchy === undefined) return;
    const path = this.#podPath(pod);
    const { podPidsMax: pidsMax } = this.#options;
    if (await this.#make(path)) await this.#set(path, { ...podCgroupLimits(pod), pidsMax });
  }
  /** New limits of a running pod. `grow` lifts them out of the way, `settle` sets those of the spec. */
  async resizePod(pod: Pod, step: 'grow' | 'settle'): Promise<void> {
    if (this.#hierarchy === undefined) return;
    const { cpuShares, ...limits } = podCgroupLimits(pod);
    const unlimited = this.#hierarchy.version === 2 ? 'max' : '-1';
    await this.#set(this.#podPath(pod), { cpuShares, ...(step === 'settle' && limits) }, unlimited);
  }
  async removePod(uid: string): Promise<void> {
    if (this.#hierarchy === undefined) return;
    for (const group of ['', '/burstable', '/besteffort'])
      for (const root of this.#hierarchy.roots) await removeTree(join(root, this.#path(`${group}/pod${uid}`)));
  }
  /** Takes the class cgroups away where nothing is in them: pods outlive their kubelet. */
  async close(): Promise<void> {
    for (const root of this.#hierarchy?.roots ?? [])
      for (const group of ['/besteffort', '/burstable', '']) await rmdir(join(root, this.#path(group))).catch(() => {});
  }

  #path(below: string): string {
    return join('/', this.#options.root, rootName + below);
  }
  #podPath(pod: Pod): string {
    const qos = podQos(pod);
    return this.#path(`${qos === 'Guaranteed' ? '' : `/${qos.toLowerCase()}`}/pod${pod.metadata.uid ?? ''}`);
  }

  async #discover(): Promise<Hierarchy> {
    const { mountPoint = '/sys/fs/cgroup' } = this.#options;
    const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      return { path: before.split(' ')[4] ?? '', type: after.split(' ')[0] ?? '' };
    });
    if (mounts.some(({ path, type }) => path === mountPoint && type === 'cgroup2')) return { version: 2, roots: [mountPoint] };
    const roots = mounts
      .filter(({ path, type }) => type === 'cgroup' && path.startsWith(`${mountPoint}/`))
      .map(({ path }) => path);
    return { version: 1, roots: [...new Set(roots)] };
  }

  /** Answers whether it had to be made. */
  async #make(path: string): Promise<boolean> {
    let made = false;
    for (const root of this.#hierarchy?.roots ?? []) {
      const first = await mkdir(join(root, path), { recursive: true, mode: 0o755 });
      made ||= first !== undefined;
      if (this.#hierarchy?.version === 2) await this.#delegate(root, path);
      else if (root.endsWith('/cpuset')) await copyCpuset(root, path);
    }
    return made;
  }
  /** Version 2: controllers are passed down from level to level. */
  async #delegate(root: string, path: string): Promise<void> {
    let directory = root;
    for (const part of path.split('/').filter((name) => name !== '')) {
      const available = (await readFile(join(directory, 'cgroup.controllers'), 'utf8')).trim().split(' ');
      const wanted = available.filter((name) => ['cpu', 'cpuset', 'memory', 'pids', 'io', 'hugetlb'].includes(name));
      if (wanted.length > 0)
        await writeFile(join(directory, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '));
      directory = join(directory, part);
    }
  }

  /** `unlimited`: what to write for limits that are absent; without it they are left as they are. */
  async #set(path: string, limits: PodLimits, unlimited?: string): Promise<void> {
    const { cpuShares, cpuQuotaUs, memoryBytes, pidsMax } = limits;
    const v2 = this.#hierarchy?.version === 2;
    const settings: [string, string | undefined][] = v2
      ? [
          ['cpu.weight', String(sharesToWeight(cpuShares))],
          ['cpu.max', cpuQuotaUs === undefined ? unlimited : `${cpuQuotaUs} ${cpuPeriodUs}`],
          ['memory.max', memoryBytes?.toString() ?? unlimited],
        ]
      : [
          ['cpu.shares', String(cpuShares)],
          ['cpu.cfs_quota_us', cpuQuotaUs?.toString() ?? unlimited],
          ['memory.limit_in_bytes', memoryBytes?.toString() ?? unlimited],
        ];
    for (const [file, value] of [...settings, ['pids.max', pidsMax?.toString()] as const]) {
      if (value === undefined) continue;
      for (const root of this.#hierarchy?.roots ?? [])
        await writeFile(join(root, path, file), value, { flag: 'r+' }).catch(absent);
    }
  }
}

/** A controller that is not in this hierarchy has no such file. */
function absent(error: unknown): void {
  if (!isErrno(error, 'ENOENT')) throw error;
}

/** Version 1: a cpuset without cpus takes no process; new ones start empty. */
async function copyCpuset(root: string, path: string): Promise<void> {
  let directory = root;
  for (const part of path.split('/').filter((name) => name !== '')) {
    const child = join(directory, part);
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const own = await readFile(join(child, file), 'utf8').catch(() => '');
      if (own.trim() !== '') continue;
      await writeFile(join(child, file), await readFile(join(directory, file), 'utf8'), { flag: 'r+' }).catch(absent);
    }
    directory = child;
  }
}

/** Children first; cgroups are removed by rmdir. */
async function removeTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  });
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  await rmdir(directory).catch(absent);
}
