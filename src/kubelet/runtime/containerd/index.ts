// Pods as real processes, through any CRI runtime; made and measured with containerd (upstream pkg/kubelet/kuberuntime).
import { mkdir } from 'node:fs/promises';
import type { Container, Pod } from '#api/core/v1';
import { type CriClient, isNotFound } from '#cri';
import { removeTree } from '#host';
import type { Clock, Logger } from '#utils';
import type { PodRecord } from '../../container/types.ts';
import { linkLog, removeDeadLinks, unlinkLog } from '../../logs/links.ts';
import { removeLog } from '../../logs/log-file.ts';
import { podLogDirectory } from '../../logs/pod-log-directory.ts';
import { rotateLogs } from '../../logs/rotate.ts';
import {
  type ContainerUsage,
  type CreateRequest,
  type ExecOutcome,
  type ImageService,
  PodFailure,
  type PodRuntime,
  type RuntimeHealth,
  type RuntimeStreams,
  StartFailure,
} from '../../container/runtime.ts';
import { CpuRates } from '../../stats/cpu-rates.ts';
import { type ConfigureDeps, configureContainer, configureSandbox } from './configure.ts';
import { criImages } from './images.ts';
import { podUidLabel } from './labels.ts';
import { containerResources } from './resources.ts';
import { containerRecord, identityOf, loggingContainer, recordOf, sandboxRecord } from './records.ts';
import { criStreams } from './streams.ts';
import { usageOf } from './usage.ts';

export interface ContainerdRuntimeDeps extends ConfigureDeps {
  cri: CriClient;
  clock: Clock;
  logger: Logger;
  /** The handler of a RuntimeClass. */
  runtimeHandler(className: string): Promise<string>;
}

const exitSettleMsMax = 2_000;

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const ignoreMissing = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};

export class ContainerdRuntime implements PodRuntime {
  readonly simulated = false;
  readonly images: ImageService;
  readonly streams: RuntimeStreams;
  readonly #cri: CriClient;
  readonly #rates = new CpuRates();
  #name = 'containerd';
  readonly #deps: ContainerdRuntimeDeps;
  /** Pod of each container seen, for events that name only the container. */
  readonly #owners = new Map<string, string>();

  constructor(deps: ContainerdRuntimeDeps) {
    this.#deps = deps;
    this.#cri = deps.cri;
    this.images = criImages(deps.cri);
    this.streams = criStreams(deps.cri);
  }
  get name(): string {
    return this.#name;
  }

  async version(): Promise<string> {
    const { runtimeName, runtimeVersion } = await this.#cri.runtime.version();
    this.#name = runtimeName;
    return runtimeVersion.replace(/^v/, '');
  }
  async health(): Promise<RuntimeHealth> {
    const { conditions } = await this.#cri.runtime.status();
    const failing = (type: string): string | undefined => {
      const condition = conditions.find((candidate) => candidate.type === type);
      if (condition?.status) return undefined;
      return `${type}=false reason:${condition?.reason ?? ''} message:${condition?.message ?? ''}`;
    };
    const runtime = failing('RuntimeReady');
    return { ...(runtime && { runtimeError: `container runtime not ready: ${runtime}` }), networkError: failing('NetworkReady') };
  }
  subscribe(onChange: (uid: string | undefined) => void): Promise<boolean> {
    return this.#cri.events((event) => {
      if (event === undefined) return onChange(undefined);
      const uid = event.podUid ?? this.#owners.get(event.containerId);
      if (uid === undefined) return;
      if (event.exiting) void this.#exited(event.containerId).finally(() => onChange(uid));
      else onChange(uid);
    });
  }
  /** Waits, for a bounded time, until the runtime's status shows an exit that its events have already reported. */
  async #exited(id: string): Promise<void> {
    for (let waitMs = 5; waitMs < exitSettleMsMax; waitMs *= 2) {
      const state = await this.#cri.runtime.containerStatus(id).then(
        (status) => status.state,
        () => undefined,
      );
      if (state !== 'CONTAINER_RUNNING') return;
      await this.#deps.clock.sleep(waitMs);
    }
  }

  async list(): Promise<PodRecord[]> {
    const [sandboxes, containers] = await Promise.all([this.#cri.runtime.listPodSandbox(), this.#cri.runtime.listContainers()]);
    const pods = new Map<string, { uid: string; namespace: string; name: string }>();
    for (const { labels } of [...sandboxes, ...containers]) {
      const identity = identityOf(labels);
      if (identity) pods.set(identity.uid, identity);
    }
    return Promise.all([...pods.values()].map((pod) => this.get(pod)));
  }
  async get(pod: { uid: string; namespace: string; name: string }): Promise<PodRecord> {
    const { runtime } = this.#cri;
    const labels = { [podUidLabel]: pod.uid };
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandbox(labels), runtime.listContainers(labels)]);
    const present = async <T>(read: Promise<T>): Promise<T[]> => {
      try {
        return [await read];
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    };
    const [sandboxStatuses, containerStatuses] = await Promise.all([
      Promise.all(sandboxes.map(({ id }) => present(runtime.podSandboxStatus(id)))),
      Promise.all(containers.map(({ id }) => present(runtime.containerStatus(id)))),
    ]);
    for (const { id } of [...containers, ...sandboxes]) this.#owners.set(id, pod.uid);
    const podDir = this.#deps.volumes.podDir(pod.uid);
    const records = await Promise.all(containerStatuses.flat().map((status) => containerRecord(status, podDir)));
    return recordOf(pod, sandboxStatuses.flat().map(sandboxRecord), records);
  }

  async preparePod(pod: Pod): Promise<void> {
    const { cgroups, volumes } = this.#deps;
    try {
      await cgroups.ensurePod(pod);
    } catch (error) {
      throw new PodFailure('FailedCreatePodContainer', `unable to ensure pod container exists: ${text(error)}`, { cause: error });
    }
    await mkdir(volumes.podDir(pod.metadata.uid ?? ''), { recursive: true, mode: 0o750 });
    await volumes.mount(pod);
  }
  prepared(): Promise<string[]> {
    return this.#deps.volumes.podUids();
  }
  async cleanupPod(uid: string): Promise<void> {
    await this.#deps.volumes.unmount(uid);
    await this.#deps.cgroups.removePod(uid);
  }

  async createSandbox(pod: Pod, attempt: number): Promise<string> {
    const config = await configureSandbox(pod, attempt, this.#deps);
    await mkdir(config.logDirectory, { recursive: true, mode: 0o755 });
    const handler = await this.#handler(pod.spec?.runtimeClassName);
    const id = await this.#cri.runtime.runPodSandbox(config, handler);
    this.#owners.set(id, pod.metadata.uid ?? '');
    return id;
  }
  async stopSandbox(id: string): Promise<void> {
    await ignoreMissing(this.#cri.runtime.stopPodSandbox(id));
  }
  async removeSandbox(id: string): Promise<void> {
    const uid = this.#owners.get(id);
    this.#owners.delete(id);
    const logDirectory = await this.#logDirectory(id);
    await ignoreMissing(this.#cri.runtime.removePodSandbox(id));
    if (uid === undefined || logDirectory === undefined) return;
    const left = await this.#cri.runtime.listPodSandbox({ [podUidLabel]: uid });
    if (left.length > 0) return;
    await removeTree(logDirectory);
    await removeDeadLinks(this.#deps.podLogsDir);
  }

  async createContainer(request: CreateRequest): Promise<string> {
    const { pod } = request;
    const configured = await configureContainer(request, this.#deps).catch((error: unknown) => {
      throw new StartFailure('CreateContainerConfigError', text(error), { cause: error });
    });
    try {
      const id = await this.#cri.runtime.createContainer(
        request.sandboxId,
        configured,
        await configureSandbox(pod, request.sandboxAttempt, this.#deps),
      );
      this.#owners.set(id, pod.metadata.uid ?? '');
      return id;
    } catch (error) {
      throw new StartFailure('CreateContainerError', text(error), { cause: error });
    }
  }
  async resizeContainer(id: string, pod: Pod, container: Container): Promise<void> {
    const { cgroups, memoryCapacityBytes } = this.#deps;
    // The pod's own limits have to leave room for both the old and the new ones of its container: they are set before and after.
    await cgroups.resizePod(pod, 'grow');
    await this.#cri.runtime.updateContainerResources(id, containerResources(pod, container, memoryCapacityBytes));
    await cgroups.resizePod(pod, 'settle');
  }
  async startContainer(id: string): Promise<void> {
    try {
      await this.#cri.runtime.startContainer(id);
    } catch (error) {
      throw new StartFailure('RunContainerError', text(error), { cause: error });
    }
    await this.#linkLog(id);
  }
  /** Links of containers without a log, of one that is gone already, and in a full file system are nobody's loss. */
  async #linkLog(id: string): Promise<void> {
    const { podLogsDir, logger } = this.#deps;
    try {
      const { labels, logPath } = await this.#cri.runtime.containerStatus(id);
      const container = loggingContainer(id, labels);
      if (container && logPath) await linkLog(podLogsDir, container, logPath);
    } catch (error) {
      logger.debug('the log of a container has no link', { container: id, error: text(error) });
    }
  }
  async stopContainer(id: string, graceSeconds: number): Promise<void> {
    await ignoreMissing(this.#cri.runtime.stopContainer(id, graceSeconds));
  }
  async removeContainer(id: string): Promise<void> {
    this.#owners.delete(id);
    const status = await this.#cri.runtime.containerStatus(id).catch(() => undefined);
    await ignoreMissing(this.#cri.runtime.removeContainer(id));
    const container = status && loggingContainer(id, status.labels);
    if (container) await unlinkLog(this.#deps.podLogsDir, container);
    if (status?.logPath) await removeLog(status.logPath);
  }

  exec(id: string, command: readonly string[], timeoutMs: number): Promise<ExecOutcome> {
    return this.#cri.runtime.execSync(id, command, Math.ceil(timeoutMs / 1000));
  }
  async usage(): Promise<Map<string, ContainerUsage>> {
    const stats = await this.#cri.runtime.listContainerStats();
    return usageOf(stats, this.#rates);
  }
  rotateLogs(bytesMax: number, filesMax: number): Promise<void> {
    return rotateLogs(this.#cri, this.#deps.clock, bytesMax, filesMax);
  }
  async updatePodCIDRs(cidrs: readonly string[]): Promise<void> {
    if (cidrs.length > 0) await this.#cri.runtime.updateRuntimeConfig(cidrs.join(','));
  }
  close(): void {
    this.#cri.close();
  }

  /** The runtime's handler for a RuntimeClass; '' is the default one. */
  async #handler(name: string | undefined): Promise<string> {
    if (!name) return '';
    return this.#deps.runtimeHandler(name).catch((error: unknown) => {
      throw new Error(`failed to lookup RuntimeClass ${name}: ${text(error)}`, { cause: error });
    });
  }
  async #logDirectory(sandboxId: string): Promise<string | undefined> {
    const status = await this.#cri.runtime.podSandboxStatus(sandboxId).catch(() => undefined);
    const identity = status && identityOf(status.labels);
    return identity && podLogDirectory(this.#deps.podLogsDir, identity);
  }
}
