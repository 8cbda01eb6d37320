// One pod's life on the node: running it, ending it, clearing away after it. Everything that happens to the pod only wakes its worker; the
// worker looks at the world and acts, one step at a time (upstream pkg/kubelet/pod_workers.go and kubelet.go SyncPod, SyncTerminatingPod,
// SyncTerminatedPod).
import type { Pod, PodCondition, PodStatus } from '#api/core/v1';
import { formatPod, isTerminalPhase } from '#component-helpers/pod';
import { type Clock, deepEqual, type Logger, type Timer } from '#utils';
import { anyRunning, emptyRecord, type PodRecord } from '../container/types.ts';
import type { PodEvents } from '../events.ts';
import { syncRetryMs, syncRetryTransientMs } from '../limits.ts';
import type { NodeState } from '../node/state.ts';
import { podActions } from '../pod/actions.ts';
import type { ProbeManager } from '../probes/types.ts';
import { PodFailure, type PodRuntime } from '../container/runtime.ts';
import type { StatusManager } from '../status/manager.ts';
import { type Eviction, podStatus } from '../status/pod-status.ts';
import { prunable } from './garbage.ts';
import { identity } from '../container/identity.ts';
import { type PodExecutor, type PodMemory } from './executor.ts';

export interface PodWorkerDeps {
  runtime: PodRuntime;
  executor: PodExecutor;
  statuses: StatusManager;
  probes: ProbeManager;
  events: PodEvents;
  clock: Clock;
  logger: Logger;
  state: NodeState;
  /** The pod is gone from API (or manifest) and from the node. */
  onGone(uid: string): void;
}

/** `ended`: everything of the pod is off the node; kept for its status (and dead containers, for logs) until the API lets it go. */
export type WorkerPhase = 'running' | 'terminating' | 'cleaning' | 'ended';

export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #memory: PodMemory = { backOff: new Map(), reasons: new Map(), resources: new Map() };
  #pod: Pod;
  #phase: WorkerPhase = 'running';
  /** The API (or manifest) no longer has the pod. */
  #removed = false;
  #eviction: Eviction | undefined;
  #conditions: PodCondition[] = [];
  #graceSeconds: number | undefined;
  #stopping: PodRecord | undefined;
  #busy = false;
  #again = false;
  #timer: Timer | undefined;
  #timerAtMs = 0;
  /** Steps that failed in a row. */
  #failures = 0;
  #closed = false;

  constructor(deps: PodWorkerDeps, pod: Pod) {
    this.#deps = deps;
    this.#pod = pod;
  }
  get pod(): Pod {
    return this.#pod;
  }
  get phase(): WorkerPhase {
    return this.#phase;
  }
  /** Containers of the pod may still run. */
  get couldBeRunning(): boolean {
    return this.#phase === 'running' || this.#phase === 'terminating';
  }
  /** The pod is gone from the API or its manifest; its containers may still be ending. */
  get removed(): boolean {
    return this.#removed;
  }

  /** The pod's newest version. */
  update(pod: Pod): void {
    const known = this.#pod;
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) this.#terminate(pod.metadata.deletionGracePeriodSeconds);
    if (pod === known || asksForWork(known, pod)) this.wake();
  }
  /** The pod is gone from the API: end it here. */
  remove(): void {
    this.#removed = true;
    this.#terminate(this.#pod.metadata.deletionGracePeriodSeconds);
    this.wake();
  }
  /** The node ends the pod: it becomes Failed with this reason. */
  evict(eviction: Eviction, graceSeconds: number | undefined, condition?: PodCondition): void {
    if (this.#phase !== 'running') return;
    this.#eviction = eviction;
    if (condition) this.#conditions = [condition];
    this.#terminate(graceSeconds);
    this.wake();
  }
  /** The node refuses the pod: it never ran and never will. */
  reject(reason: string, message: string): void {
    this.#deps.events.pod(this.#pod, 'Warning', reason, message);
    const status: PodStatus = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` };
    const { qosClass } = this.#pod.status ?? {};
    this.#phase = 'ended';
    this.#deps.statuses.set(this.#pod, { ...status, ...(qosClass && { qosClass }) });
    this.#deps.statuses.finish(this.#pod);
  }
  /** Something about the pod may have changed. */
  wake(): void {
    this.#again = true;
    if (this.#closed) return;
    if (!this.#busy) void this.#run();
    else if (this.#stopping) void this.#reportWhileEnding();
  }
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  /** A grace period only ever shrinks; a shorter one reaches the containers being stopped. */
  #terminate(graceSeconds: number | undefined): void {
    const shorter = graceSeconds !== undefined && (this.#graceSeconds === undefined || graceSeconds < this.#graceSeconds);
    if (shorter) this.#graceSeconds = Math.max(1, graceSeconds);
    if (this.#phase === 'running') this.#phase = 'terminating';
    else if (this.#phase === 'terminating' && shorter && this.#stopping) this.#hasten(this.#stopping, this.#graceSeconds ?? 1);
  }
  #hasten(record: PodRecord, graceSeconds: number): void {
    for (const { id, state } of record.containers)
      if (state === 'running') this.#deps.runtime.stopContainer(id, graceSeconds).catch(() => {});
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#step();
        this.#failures = 0;
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#busy = false;
  }
  async #step(): Promise<void> {
    if (this.#phase === 'running') await this.#sync();
    if (this.#phase === 'terminating') await this.#end();
    if (this.#phase === 'cleaning') await this.#clean();
    if (this.#phase === 'ended' && this.#removed) await this.#forget();
  }
  #failed(error: unknown): void {
    if (this.#closed) return;
    const failure = error instanceof PodFailure ? error : undefined;
    if (failure) this.#deps.events.pod(this.#pod, 'Warning', failure.reason, failure.message);
    this.#deps.logger.info('Error syncing pod, skipping', { pod: formatPod(this.#pod), error: String(error) });
    const waitMs = failure?.transient ? Math.min(syncRetryMs, syncRetryTransientMs * 2 ** this.#failures) : syncRetryMs;
    this.#failures++;
    this.#wakeAt(this.#deps.clock.now() + waitMs);
  }
  #wakeAt(atMs: number): void {
    const now = this.#deps.clock.now();
    if (this.#timer && this.#timerAtMs > now && this.#timerAtMs <= atMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#deps.clock.setTimer(atMs - now, () => {
      this.#timer = undefined;
      this.wake();
    });
  }

  #status(record: PodRecord, terminal: boolean, lastIPs?: readonly string[]): PodStatus {
    const { statuses, probes, runtime } = this.#deps;
    return podStatus({
      pod: this.#pod,
      record,
      reasons: this.#memory.reasons,
      runtimeName: runtime.name,
      old: statuses.get(this.#pod.metadata.uid ?? '') ?? this.#pod.status ?? {},
      probes: probes.results,
      terminal,
      hostIPs: this.#deps.state.hostIPs(),
      eviction: this.#eviction,
      extraConditions: this.#conditions,
      lastIPs,
    });
  }

  /** One look at a pod that is to run. */
  async #sync(): Promise<void> {
    const { runtime, statuses, clock, probes, executor } = this.#deps;
    // Whatever has to happen later is found out anew.
    this.#timer?.cancel();
    this.#timer = undefined;
    const record = await runtime.get(identity(this.#pod));
    if (this.#phase !== 'running') return;
    if (isTerminalPhase(this.#pod.status?.phase)) {
      this.#phase = 'terminating';
      return;
    }
    const status = this.#status(record, false);
    statuses.set(this.#pod, status);
    if (isTerminalPhase(status.phase)) {
      this.#phase = 'terminating';
      return;
    }
    if (this.#pastDeadline()) return this.evict(deadlineExceeded, undefined);
    const { networkError } = this.#deps.state;
    if (networkError !== undefined && !this.#pod.spec?.hostNetwork)
      throw new PodFailure('NetworkNotReady', `network is not ready: ${networkError}`, { transient: true });
    await runtime.preparePod(this.#pod);
    probes.sync(this.#pod, record);
    const actions = podActions(this.#pod, record, clock.now(), { probes: probes.results, backOff: this.#memory.backOff });
    const outcome = await executor.run(this.#pod, record, actions, this.#memory, () => this.#phase !== 'running');
    if (outcome.changed) this.#again = true;
    else await this.#tidy(record);
    if (outcome.changed || outcome.failed || outcome.retryAtMs !== undefined) await this.#report();
    if (outcome.retryAtMs !== undefined) this.#wakeAt(outcome.retryAtMs);
    if (outcome.failed) this.#wakeAt(clock.now() + syncRetryMs);
  }
  async #report(): Promise<void> {
    if (this.#phase !== 'running') return;
    const record = await this.#deps.runtime.get(identity(this.#pod));
    this.#deps.statuses.set(this.#pod, this.#status(record, false));
  }
  /** True when past; otherwise makes sure to be awake then. */
  #pastDeadline(): boolean {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    const start = this.#deps.statuses.get(this.#pod.metadata.uid ?? '')?.startTime;
    if (seconds === undefined || !start) return false;
    const atMs = Date.parse(start) + seconds * 1000;
    if (this.#deps.clock.now() >= atMs) {
      this.#deps.events.pod(this.#pod, 'Normal', deadlineExceeded.reason, deadlineExceeded.message);
      return true;
    }
    this.#wakeAt(atMs);
    return false;
  }
  /** Removes dead containers and sandboxes nobody can ask about any more. */
  async #tidy(record: PodRecord): Promise<void> {
    const { containers, sandboxes } = prunable(record);
    for (const id of containers) await this.#deps.runtime.removeContainer(id);
    for (const id of sandboxes) await this.#deps.runtime.removeSandbox(id);
  }

  /** Stops everything. */
  async #end(): Promise<void> {
    const { runtime, statuses, probes, executor } = this.#deps;
    const record = await runtime.get(identity(this.#pod));
    statuses.set(this.#pod, this.#status(record, false));
    probes.stopLivenessAndStartup(this.#pod);
    this.#stopping = record;
    const grace = this.#graceSeconds ?? this.#pod.spec?.terminationGracePeriodSeconds;
    try {
      await executor.killPod(this.#pod, record, grace === undefined ? undefined : Math.max(1, grace));
    } catch (error) {
      throw new PodFailure('FailedKillPod', `error killing pod: ${(error as Error).message}`, { cause: error });
    } finally {
      this.#stopping = undefined;
    }
    probes.remove(this.#pod);
    const stopped = await runtime.get(identity(this.#pod));
    if (anyRunning(stopped)) throw new Error('detected running containers after a successful KillPod, CRI violation');
    statuses.set(this.#pod, this.#status(stopped, true, record.sandboxes[0]?.ips));
    this.#phase = 'cleaning';
  }
  /** What happens while the containers are being stopped: readiness is probed to the last, and containers end one by one. */
  async #reportWhileEnding(): Promise<void> {
    try {
      const record = await this.#deps.runtime.get(identity(this.#pod));
      if (this.#stopping) this.#deps.statuses.set(this.#pod, this.#status(record, false));
    } catch (error) {
      this.#deps.logger.debug('status of a pod that ends is not known', { pod: formatPod(this.#pod), error: String(error) });
    }
  }
  async #clean(): Promise<void> {
    const { runtime, statuses } = this.#deps;
    await runtime.cleanupPod(identity(this.#pod).uid);
    this.#timer?.cancel();
    this.#phase = 'ended';
    statuses.finish(this.#pod);
  }
  /** Clears the last traces of a pod the API no longer has. */
  async #forget(): Promise<void> {
    const { runtime, statuses } = this.#deps;
    const { uid, namespace, name } = identity(this.#pod);
    const record = (await runtime.get({ uid, namespace, name })) ?? emptyRecord(uid, namespace, name);
    for (const { id } of record.containers) await runtime.removeContainer(id);
    for (const { id } of record.sandboxes) await runtime.removeSandbox(id);
    statuses.forget(uid);
    this.close();
    this.#deps.onGone(uid);
  }
}

/**
 * Whether a new version of a pod is more than the status that was written for it: a look at each of those would try again at once what has just
 * failed, with an event each time (upstream podsDifferSemantically).
 */
function asksForWork(known: Pod, pod: Pod): boolean {
  const { metadata, spec, status } = pod;
  return (
    !deepEqual(known.spec, spec) ||
    !deepEqual(known.metadata.labels, metadata.labels) ||
    !deepEqual(known.metadata.annotations, metadata.annotations) ||
    known.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
    known.metadata.deletionGracePeriodSeconds !== metadata.deletionGracePeriodSeconds ||
    isTerminalPhase(known.status?.phase) !== isTerminalPhase(status?.phase) ||
    // Their conditions are set by others, and the pod's readiness hangs on them.
    (spec?.readinessGates ?? []).length > 0
  );
}

const deadlineExceeded: Eviction = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};
