// The node's set of pod workers, and who may join it: admission against the pods already here, mirror pods kept apart, orphans of the runtime
// ended (upstream pkg/kubelet/kubelet.go syncLoop handlers and HandlePodCleanups).
import type { Node, Pod, PodCondition } from '#api/core/v1';
import { isMirrorPod, isTerminalPhase, podFullName } from '#component-helpers/pod';
import type { Logger } from '#utils';
import type { PodRecord } from '../container/types.ts';
import { pressureRefusal } from '../eviction/admit.ts';
import { refusalOf } from '../node/admission.ts';
import type { SysctlRules } from '../node/sysctls.ts';
import type { PodRuntime } from '../container/runtime.ts';
import type { Eviction } from '../status/pod-status.ts';
import { stopSandboxes } from './executor.ts';
import { PodWorker, type PodWorkerDeps } from './pod-worker.ts';

export interface PodWorkersDeps extends Omit<PodWorkerDeps, 'onGone'> {
  /** Settings of the kernel that pods may have. */
  sysctls: SysctlRules;
  logger: Logger;
  onGone?(uid: string): void;
}

export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #workers = new Map<string, PodWorker>();
  /** Mirror pods by full name. */
  readonly #mirrors = new Map<string, Pod>();
  /** Orphans being ended. */
  readonly #ending = new Set<string>();

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
  }

  get(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }
  /** Every pod known here, mirror pods excluded. */
  pods(): Pod[] {
    return [...this.#workers.values()].map((worker) => worker.pod);
  }
  /** Pods whose containers run or are to run. */
  running(): Pod[] {
    return [...this.#workers.values()]
      .filter(({ phase, pod }) => phase === 'running' && !isTerminalPhase(pod.status?.phase))
      .map(({ pod }) => pod);
  }
  /** Ends a pod for the node's sake, and says so. */
  evict(pod: Pod, eviction: Eviction, graceSeconds: number, condition?: PodCondition): void {
    this.#deps.events.pod(pod, 'Warning', eviction.reason, eviction.message);
    this.#workers.get(pod.metadata.uid ?? '')?.evict(eviction, graceSeconds, condition);
  }
  mirrorOf(pod: Pod): Pod | undefined {
    return this.#mirrors.get(podFullName(pod));
  }
  mirrors(): Pod[] {
    return [...this.#mirrors.values()];
  }

  /** A new or changed pod. */
  update(pod: Pod): void {
    if (isMirrorPod(pod)) {
      this.#mirrors.set(podFullName(pod), pod);
      for (const worker of this.#workers.values())
        if (podFullName(worker.pod) === podFullName(pod))
          this.#deps.statuses.observe({ ...pod, metadata: { ...pod.metadata, uid: worker.pod.metadata.uid } });
      return;
    }
    const uid = pod.metadata.uid ?? '';
    const known = this.#workers.get(uid);
    if (known) {
      known.update(pod);
      this.#deps.statuses.observe(pod);
      return;
    }
    this.#add(uid, pod);
  }

  /** The pod is no longer in the API, or its manifest is gone. */
  remove(pod: Pod): void {
    if (isMirrorPod(pod)) this.#mirrors.delete(podFullName(pod));
    else this.#workers.get(pod.metadata.uid ?? '')?.remove();
  }

  /** Something changed in the runtime; undefined: anywhere. */
  wake(uid: string | undefined): void {
    if (uid === undefined) for (const worker of this.#workers.values()) worker.wake();
    else this.#workers.get(uid)?.wake();
  }

  /** Ends pods of the runtime that nobody asked for, and clears what is left of others. Call only when every source of pods has been read. */
  async endOrphans(runtime: PodRuntime): Promise<void> {
    const records = await runtime.list();
    for (const record of records) await this.#endOrphan(record.uid, () => endRecord(runtime, record));
    const running = new Set(records.map(({ uid }) => uid));
    for (const uid of await runtime.prepared()) if (!running.has(uid)) await this.#endOrphan(uid, () => runtime.cleanupPod(uid));
  }
  async #endOrphan(uid: string, end: () => Promise<void>): Promise<void> {
    if (this.#workers.has(uid) || this.#ending.has(uid)) return;
    this.#ending.add(uid);
    try {
      await end();
    } catch (error) {
      this.#deps.logger.warn('Failed cleaning up orphaned pod', { podUID: uid, error: String(error) });
    } finally {
      this.#ending.delete(uid);
    }
  }
  close(): void {
    for (const worker of this.#workers.values()) worker.close();
  }

  #add(uid: string, pod: Pod): void {
    const worker = new PodWorker({ ...this.#deps, onGone: (gone) => this.#gone(gone) }, pod);
    const { node } = this.#deps.state;
    const others = this.#activePods();
    this.#workers.set(uid, worker);
    const finished = isTerminalPhase(pod.status?.phase) || pod.metadata.deletionTimestamp !== undefined;
    const refusal = finished || node === undefined ? undefined : this.#refusalOf(pod, node, others);
    if (refusal) worker.reject(refusal.reason, refusal.message);
    else worker.update(pod);
  }
  #refusalOf(pod: Pod, node: Node, others: readonly Pod[]): { reason: string; message: string } | undefined {
    const { sysctls, state } = this.#deps;
    // A pod that runs already was admitted before the pressure came.
    const isNew = (pod.status?.startTime ?? '') === '';
    return (
      (isNew ? pressureRefusal(pod, state.pressure) : undefined) ??
      sysctls.refusalOf(pod) ??
      refusalOf(pod, node, others, node.status?.nodeInfo?.operatingSystem)
    );
  }
  /** What a new pod shares the node with. The scheduler no longer counts a pod that is gone from the API, so neither does this. */
  #activePods(): Pod[] {
    return [...this.#workers.values()]
      .filter((worker) => worker.couldBeRunning && !worker.removed && !isTerminalPhase(worker.pod.status?.phase))
      .map((worker) => worker.pod);
  }
  #gone(uid: string): void {
    this.#workers.delete(uid);
    this.#deps.onGone?.(uid);
  }
}

/** Stops all of a pod and leaves nothing of it. */
async function endRecord(runtime: PodRuntime, record: PodRecord): Promise<void> {
  const { uid, containers, sandboxes } = record;
  for (const { id, state } of containers) if (state === 'running') await runtime.stopContainer(id, 1);
  await stopSandboxes(runtime, record);
  await runtime.cleanupPod(uid);
  for (const { id } of containers) await runtime.removeContainer(id);
  for (const { id } of sandboxes) await runtime.removeSandbox(id);
}
