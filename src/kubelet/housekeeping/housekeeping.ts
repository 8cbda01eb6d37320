// What a node does now and then: fresh volumes, log rotation, eviction, image collection (upstream kubelet.go StartGarbageCollection,
// eviction manager, container log manager).
import type { Pod } from '#api/core/v1';
import { isTerminalPhase } from '#component-helpers/pod';
import type { Clock, Logger, Timer } from '#utils';
import type { PodRecord } from '../container/types.ts';
import { chooseEviction, type Observations, pressureOf, signalsMet } from '../eviction/decide.ts';
import { observe } from '../eviction/observe.ts';
import { type ImageUse, imagesToRemove } from '../images/garbage.ts';
import type { Kubelet } from '../kubelet.ts';
import {
  evictionGraceSeconds,
  housekeepingMs,
  imageAgeMsMin,
  imageCollectMs,
  pressureTransitionMs,
  volumeRefreshMs,
} from '../limits.ts';
import { rotateLogs } from '../logs/rotate.ts';
import type { ContainerdRuntime } from '../runtime/containerd/index.ts';
import type { VolumeManager } from '../volumes/manager.ts';

export interface HousekeepingDeps {
  kubelet: Kubelet;
  runtime: ContainerdRuntime;
  volumes: VolumeManager;
  clock: Clock;
  logger: Logger;
}

type Pressure = ReturnType<typeof pressureOf>;

export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #uses = new Map<string, ImageUse>();
  /** When each kind of pressure was last seen: it is reported for a while after. */
  readonly #seenAtMs = { memory: -Infinity, disk: -Infinity, pid: -Infinity };
  #timer: Timer | undefined;
  #refreshedAtMs = 0;
  #collectedAtMs = 0;
  #closed = false;

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
    this.#collectedAtMs = deps.clock.now();
    this.#refreshedAtMs = deps.clock.now();
  }
  start(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.setTimer(housekeepingMs, () => void this.#round().finally(() => this.start()));
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
    const { clock, volumes, kubelet, runtime, logger } = this.#deps;
    const now = clock.now();
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        if (!this.#closed) await work();
      } catch (error) {
        if (!this.#closed) logger.warn(`${what} failed`, { error: String(error) });
      }
    };
    await attempt('eviction', () => this.#evict());
    await attempt('log rotation', () =>
      rotateLogs(runtime, kubelet.options.containerLogMaxBytes, kubelet.options.containerLogMaxFiles),
    );
    if (now - this.#refreshedAtMs >= volumeRefreshMs) {
      this.#refreshedAtMs = now;
      await attempt('volume refresh', () => volumes.refresh());
    }
    if (now - this.#collectedAtMs >= imageCollectMs) {
      this.#collectedAtMs = now;
      await attempt('image garbage collection', () => this.#collectImages());
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
    if (signals.length === 0) return;
    if (seen.disk) await this.#freeImages(Number.MAX_SAFE_INTEGER);
    const used = await this.#usedBytes();
    const pods = kubelet.workers
      .pods()
      .filter((pod) => kubelet.workers.get(pod.metadata.uid ?? '')?.phase === 'running' && !isTerminalPhase(pod.status?.phase));
    const still = seen.disk ? signalsMet(await observe(kubelet.options.rootDir), thresholds) : signals;
    this.#evictOne(still, observations, pods, used);
  }
  #evictOne(signals: string[], observations: Observations, pods: Pod[], used: Map<string, number>): void {
    const { kubelet } = this.#deps;
    const usedBytes = (pod: Pod): number => used.get(pod.metadata.uid ?? '') ?? 0;
    const choice = chooseEviction({ signals, observations, thresholds: kubelet.options.eviction.hard, pods, usedBytes });
    if (choice === undefined) return;
    kubelet.events.pod(choice.pod, 'Warning', 'Evicted', choice.message);
    kubelet.workers
      .get(choice.pod.metadata.uid ?? '')
      ?.evict({ reason: 'Evicted', message: choice.message }, evictionGraceSeconds, choice.condition);
  }
  /** Working set by pod. */
  async #usedBytes(): Promise<Map<string, number>> {
    const usage = await this.#deps.runtime.usage();
    const sums = new Map<string, number>();
    for (const { uid, containers } of await this.#deps.runtime.list())
      sums.set(
        uid,
        containers.reduce((sum, { id }) => sum + (usage.get(id)?.memoryWorkingSetBytes ?? 0), 0),
      );
    return sums;
  }

  async #collectImages(): Promise<void> {
    const { kubelet, runtime } = this.#deps;
    const { imageGcHighPercent, imageGcLowPercent, rootDir } = kubelet.options;
    await this.#trackImages(await runtime.list());
    const disk = (await observe(rootDir))['imagefs.available'];
    if (disk === undefined || disk.capacity === 0) return;
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
      ageMsMin: imageAgeMsMin,
    });
    for (const { id } of chosen) {
      await runtime.images.remove(id);
      logger.info('Image garbage collection removed an image', { image: id });
    }
  }
}
