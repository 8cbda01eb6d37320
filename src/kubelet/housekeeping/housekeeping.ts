// What a node does now and then: fresh volumes, log rotation, eviction, image collection (upstream kubelet.go StartGarbageCollection,
// eviction manager, container log manager).
import type { Pod, PodCondition } from '#api/core/v1';
import { isCriticalPod, isTerminalPhase } from '#component-helpers/pod';
import type { Clock, Logger, Timer } from '#utils';
import type { PodRecord } from '../container/types.ts';
import type { Pressure } from '../eviction/admit.ts';
import {
  chooseEviction,
  firstSignal,
  type Observations,
  pressureOf,
  signalResources,
  signalsMet,
  type Usage,
} from '../eviction/decide.ts';
import { podStorage } from '../eviction/disk-usage.ts';
import { hasStorageLimit, type LocalStorage, storageExcess } from '../eviction/local-storage.ts';
import { observe } from '../eviction/observe.ts';
import { type ImageUse, imagesToRemove } from '../images/garbage.ts';
import type { Kubelet } from '../kubelet.ts';
import { evictionGraceSeconds, housekeepingMs, imageCollectMs, pressureTransitionMs, volumeRefreshMs } from '../limits.ts';
import { rotateLogs } from '../logs/rotate.ts';
import type { ContainerdRuntime } from '../runtime/containerd/index.ts';
import { podLogDirectory } from '../runtime/containerd/sandbox-config.ts';
import { identity } from '../workers/executor.ts';
import { nodeUsage } from '../stats/node-usage.ts';
import type { VolumeManager } from '../volumes/manager.ts';

export interface HousekeepingDeps {
  kubelet: Kubelet;
  runtime: ContainerdRuntime;
  volumes: VolumeManager;
  clock: Clock;
  logger: Logger;
}

export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #uses = new Map<string, ImageUse>();
  /** When each kind of pressure was last seen: it is reported for a while after. */
  readonly #seenAtMs = { memory: -Infinity, disk: -Infinity, pid: -Infinity };
  #timer: Timer | undefined;
  #refreshedAtMs = 0;
  #collectedAtMs = -Infinity;
  #closed = false;

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
    this.#refreshedAtMs = deps.clock.now();
  }
  /** Images are looked at at once, everything else after a while. */
  start(): void {
    void this.#attempt('reading CPU use', () => this.#sample())
      .then(() => this.#imagesInTurn())
      .finally(() => this.#next());
  }
  #next(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.setTimer(housekeepingMs, () => void this.#round().finally(() => this.#next()));
  }
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }
  pressure(): Pressure {
    const since = this.#deps.clock.now() - pressureTransitionMs;
    const { memory, disk, pid } = this.#seenAtMs;
    return { memory: memory > since, disk: disk > since, pid: pid > since };
  }

  async #round(): Promise<void> {
    const { clock, volumes, kubelet, runtime } = this.#deps;
    const now = clock.now();
    await this.#attempt('reading CPU use', () => this.#sample());
    await this.#attempt('eviction', () => this.#evict());
    await this.#attempt('log rotation', () =>
      rotateLogs(runtime, kubelet.options.containerLogMaxBytes, kubelet.options.containerLogMaxFiles),
    );
    if (now - this.#refreshedAtMs >= volumeRefreshMs) {
      this.#refreshedAtMs = now;
      await this.#attempt('volume refresh', () => volumes.refresh());
    }
    await this.#imagesInTurn();
  }
  /** A reading for the next one to compare with. */
  async #sample(): Promise<void> {
    const { runtime, clock } = this.#deps;
    await Promise.all([runtime.usage(), nodeUsage(clock)]);
  }
  async #imagesInTurn(): Promise<void> {
    const now = this.#deps.clock.now();
    if (now - this.#collectedAtMs < imageCollectMs) return;
    this.#collectedAtMs = now;
    await this.#attempt('image garbage collection', () => this.#collectImages());
  }
  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      if (!this.#closed) await work();
    } catch (error) {
      if (!this.#closed) this.#deps.logger.warn(`${what} failed`, { error: String(error) });
    }
  }

  async #evict(): Promise<void> {
    const { kubelet, clock } = this.#deps;
    const thresholds = kubelet.options.eviction.hard;
    const observations = await observe(kubelet.options.rootDir);
    const signals = signalsMet(observations, thresholds);
    const before = JSON.stringify(this.pressure());
    const seen = pressureOf(signals);
    for (const kind of ['memory', 'disk', 'pid'] as const) if (seen[kind]) this.#seenAtMs[kind] = clock.now();
    if (before !== JSON.stringify(this.pressure())) void kubelet.nodes.updateStatus();
    const pods = kubelet.workers
      .pods()
      .filter((pod) => kubelet.workers.get(pod.metadata.uid ?? '')?.phase === 'running' && !isTerminalPhase(pod.status?.phase));
    if (await this.#evictForStorage(pods)) return;
    if (signals.length === 0) return;
    this.#tellThreshold(signals[0] ?? '');
    if (seen.disk) await this.#freeImages(Number.MAX_SAFE_INTEGER);
    const still = seen.disk ? signalsMet(await observe(kubelet.options.rootDir), thresholds) : signals;
    if (still.length > 0) await this.#evictOne(still, observations, pods);
  }
  async #evictOne(signals: string[], observations: Observations, pods: Pod[]): Promise<void> {
    const disk = signalResources[firstSignal(signals) ?? ''] === 'ephemeral-storage';
    const used = disk ? await this.#diskUse(pods) : await this.#memoryUse();
    const usage = (pod: Pod): Usage => used.get(pod.metadata.uid ?? '') ?? { total: 0, containers: new Map() };
    const choice = chooseEviction({
      signals,
      observations,
      thresholds: this.#deps.kubelet.options.eviction.hard,
      pods,
      usage,
    });
    if (choice) this.#evictPod(choice.pod, choice.message, choice.condition);
  }
  #evictPod(pod: Pod, message: string, condition?: PodCondition): void {
    const { kubelet } = this.#deps;
    kubelet.events.pod(pod, 'Warning', 'Evicted', message);
    kubelet.workers.get(pod.metadata.uid ?? '')?.evict({ reason: 'Evicted', message }, evictionGraceSeconds, condition);
  }
  #tellThreshold(signal: string): void {
    const message = `Attempting to reclaim ${signalResources[signal] ?? signal}`;
    this.#deps.kubelet.nodes.recordEvent('Warning', 'EvictionThresholdMet', message);
  }
  /** Ends pods that pass their own limits of disk; answers whether there was one. */
  async #evictForStorage(pods: readonly Pod[]): Promise<boolean> {
    const limited = pods.filter((pod) => hasStorageLimit(pod) && !isCriticalPod(pod));
    if (limited.length === 0) return false;
    const usage = await this.#deps.runtime.usage();
    let evicted = false;
    for (const pod of limited) {
      const message = storageExcess(pod, await this.#storageOf(pod, usage));
      if (message === undefined) continue;
      evicted = true;
      this.#evictPod(pod, message);
    }
    return evicted;
  }
  async #storageOf(pod: Pod, usage: Awaited<ReturnType<ContainerdRuntime['usage']>>): Promise<LocalStorage> {
    const { kubelet, runtime, volumes } = this.#deps;
    const id = identity(pod);
    const mounted = volumes.mounted(id.uid);
    return podStorage({
      pod,
      record: await runtime.get(id),
      usage,
      volumePath: (name) => mounted.get(name)?.hostPath,
      logDirectory: podLogDirectory(kubelet.options.podLogsDir, id),
    });
  }
  /** Volumes, logs and writable layers by pod. */
  async #diskUse(pods: readonly Pod[]): Promise<Map<string, Usage>> {
    const usage = await this.#deps.runtime.usage();
    const found = new Map<string, Usage>();
    for (const pod of pods) {
      const { volumes, containers } = await this.#storageOf(pod, usage);
      const total = [...volumes.values(), ...containers.values()].reduce((sum, bytes) => sum + bytes, 0);
      found.set(pod.metadata.uid ?? '', { total, containers });
    }
    return found;
  }
  /** Working sets by pod. */
  async #memoryUse(): Promise<Map<string, Usage>> {
    const usage = await this.#deps.runtime.usage();
    const found = new Map<string, Usage>();
    for (const { uid, containers } of await this.#deps.runtime.list()) {
      const sets = containers.map(({ id, name }) => [name, usage.get(id)?.memoryWorkingSetBytes ?? 0] as const);
      found.set(uid, { total: sets.reduce((sum, [, bytes]) => sum + bytes, 0), containers: new Map(sets) });
    }
    return found;
  }

  async #collectImages(): Promise<void> {
    const { kubelet, runtime } = this.#deps;
    const { imageGcHighPercent, imageGcLowPercent, imageAgeMsMax, rootDir } = kubelet.options;
    await this.#trackImages(await runtime.list());
    if (imageAgeMsMax > 0) await this.#freeImages(0);
    const disk = (await observe(rootDir))['imagefs.available'];
    if (disk === undefined) return;
    if (disk.capacity === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      kubelet.nodes.recordEvent('Warning', 'InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const usedPercent = 100 - (100 * disk.available) / disk.capacity;
    if (usedPercent < imageGcHighPercent) return;
    await this.#freeImages((disk.capacity * (100 - imageGcLowPercent)) / 100 - disk.available);
  }
  async #trackImages(records: readonly PodRecord[]): Promise<Set<string>> {
    const now = this.#deps.clock.now();
    const images = await this.#deps.runtime.images.list();
    const refs = new Set(records.flatMap(({ containers }) => containers.map(({ imageRef }) => imageRef)));
    const inUse = new Set(
      images.filter(({ id, repoDigests }) => refs.has(id) || repoDigests.some((name) => refs.has(name))).map(({ id }) => id),
    );
    for (const { id } of images) {
      const known = this.#uses.get(id) ?? { firstSeenAtMs: now, lastUsedAtMs: now };
      this.#uses.set(id, inUse.has(id) ? { ...known, lastUsedAtMs: now } : known);
    }
    for (const id of this.#uses.keys()) if (!images.some((image) => image.id === id)) this.#uses.delete(id);
    return inUse;
  }
  async #freeImages(bytesToFree: number): Promise<void> {
    const { runtime, clock, kubelet, logger } = this.#deps;
    const inUse = await this.#trackImages(await runtime.list());
    const images = await runtime.images.list();
    const spared = [kubelet.options.podInfraImage];
    const chosen = imagesToRemove({
      images,
      uses: this.#uses,
      inUse,
      spared,
      bytesToFree,
      now: clock.now(),
      ageMsMin: kubelet.options.imageAgeMsMin,
      ageMsMax: kubelet.options.imageAgeMsMax,
    });
    for (const { id } of chosen) {
      await runtime.images.remove(id);
      logger.info('Image garbage collection removed an image', { image: id });
    }
  }
}
