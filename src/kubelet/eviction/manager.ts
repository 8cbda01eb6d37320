// Ends pods when the node, or a pod's own share of the disk, runs short (upstream pkg/kubelet/eviction eviction_manager.go).
import type { Pod, PodCondition } from '#api/core/v1';
import { isCriticalPod } from '#component-helpers/pod';
import { type Clock, deepEqual } from '#utils';
import { evictionGraceSeconds } from '../limits.ts';
import { podLogDirectory } from '../logs/pod-log-directory.ts';
import type { NodeState } from '../node/state.ts';
import type { EvictionOptions } from '../options.ts';
import type { PodRuntime } from '../container/runtime.ts';
import { identity } from '../container/identity.ts';
import { chooseEviction, type Usage } from './decide.ts';
import { podStorage } from './disk-usage.ts';
import { hasStorageLimit, type LocalStorage, storageExcess } from './local-storage.ts';
import { observe } from './observe.ts';
import {
  judge,
  noPressureMemory,
  type Observations,
  parseThresholds,
  pressureAt,
  type PressureMemory,
  signalResources,
  type Threshold,
  thresholdsMet,
} from './thresholds.ts';

export interface EvictionDeps {
  options: EvictionOptions;
  rootDir: string;
  podLogsDir: string;
  runtime: PodRuntime;
  clock: Clock;
  /** Learns what the node is short of. */
  state: NodeState;
  /** Where a pod's volumes are, by name. */
  volumePaths(uid: string): ReadonlyMap<string, { hostPath: string }>;
  /** Pods that run. */
  pods(): Pod[];
  /** Ends a pod; it becomes Failed with this message. */
  evict(pod: Pod, message: string, graceSeconds: number, condition?: PodCondition): void;
  /** Tells of the node. */
  warn(reason: string, message: string): void;
  onPressure(): void;
  freeImages(): Promise<void>;
}

export class EvictionManager {
  readonly #deps: EvictionDeps;
  readonly #thresholds: readonly Threshold[];
  #memory: PressureMemory = noPressureMemory;

  /** Throws for thresholds that are not well-formed. */
  constructor(deps: EvictionDeps) {
    this.#deps = deps;
    this.#thresholds = parseThresholds(deps.options);
  }
  /** One look at the node; ends at most one pod for the node's sake. */
  async look(): Promise<void> {
    const { clock, rootDir } = this.#deps;
    const observations = await observe(rootDir);
    const { memory, due } = judge(this.#memory, this.#thresholds, observations, clock.now());
    this.#memory = memory;
    this.#tellPressure();
    const pods = this.#deps.pods();
    if (await this.#evictForStorage(pods)) return;
    const [threshold] = due;
    if (threshold) await this.#reclaim(threshold, observations, pods);
  }
  #tellPressure(): void {
    const { clock, options, state, onPressure } = this.#deps;
    const before = state.pressure;
    state.pressure = pressureAt(this.#memory, clock.now(), options.pressureTransitionMs);
    if (!deepEqual(before, state.pressure)) onPressure();
  }
  async #reclaim(threshold: Threshold, observations: Observations, pods: Pod[]): Promise<void> {
    const { warn, freeImages, rootDir } = this.#deps;
    const resource = signalResources[threshold.signal] ?? threshold.signal;
    warn('EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    const disk = resource === 'ephemeral-storage' || resource === 'inodes';
    if (disk) {
      await freeImages();
      if (thresholdsMet(this.#thresholds, await observe(rootDir), true).length === 0) return;
    }
    const used = disk ? await this.#diskUse(pods) : await this.#memoryUse();
    const usage = (pod: Pod): Usage => used.get(pod.metadata.uid ?? '') ?? { total: 0, containers: new Map() };
    const choice = chooseEviction({ threshold, observations, pods, usage });
    if (choice) this.#deps.evict(choice.pod, choice.message, this.#graceSeconds(threshold, choice.pod), choice.condition);
  }
  #graceSeconds({ graceMs }: Threshold, { spec }: Pod): number {
    if (graceMs === undefined) return evictionGraceSeconds;
    const { maxPodGraceSeconds } = this.#deps.options;
    return Math.min(maxPodGraceSeconds, spec?.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
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
      this.#deps.evict(pod, message, evictionGraceSeconds);
    }
    return evicted;
  }
  async #storageOf(pod: Pod, usage: Awaited<ReturnType<PodRuntime['usage']>>): Promise<LocalStorage> {
    const { runtime, volumePaths, podLogsDir } = this.#deps;
    const id = identity(pod);
    const volumes = volumePaths(id.uid);
    return podStorage({
      pod,
      record: await runtime.get(id),
      usage,
      volumePath: (name) => volumes.get(name)?.hostPath,
      logDirectory: podLogDirectory(podLogsDir, id),
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
}
