// Keeps the last status of every pod and writes changes to the API, one write at a time per pod; finishes the deletion of pods that are gone
// from the node (upstream pkg/kubelet/status status_manager.go).
import type { Pod, PodCondition, PodStatus } from '#api/core/v1';
import { isConflict, isNotFound } from '#apimachinery/errors';
import { isMirrorPod, isTerminalPhase } from '#component-helpers/pod';
import type { KubeClient } from '#client';
import type { Clock, Logger, Timer } from '#utils';
import { statusRetryMs } from '../limits.ts';
import type { NodeState } from '../node/state.ts';
import { equalJson } from '../container/equal-json.ts';
import { statusPatch } from './patch.ts';
import { finalStatus, mergeStatus, settleStatus } from './settle.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };

export interface StatusManagerDeps {
  client: KubeClient | undefined;
  clock: Clock;
  logger: Logger;
  /** The API's pod for a pod of this node: itself, or the mirror of a static one. */
  apiPod(uid: string): Pod | undefined;
  /** Containers of the pod may still run. */
  couldBeRunning(uid: string): boolean;
  /** Gets to know the addresses of pods. */
  state: NodeState;
}

interface Entry {
  pod: Pod;
  status: PodStatus;
  /** Everything of the pod is gone from the node. */
  finished: boolean;
  dirty: boolean;
  writing: boolean;
  /** The newest answer of the API, used until the informer has caught up. */
  answer?: Pod;
  retry?: Timer;
}

const versionOf = (pod: Pod | undefined): number => Number(pod?.metadata.resourceVersion ?? 0);

export class StatusManager {
  readonly #deps: StatusManagerDeps;
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(deps: StatusManagerDeps) {
    this.#deps = deps;
  }

  /** The last status set, if any. */
  get(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status;
  }

  /** Takes a new status; writes it when it differs from the last. */
  set(pod: Pod, status: PodStatus, force = false): void {
    const uid = pod.metadata.uid ?? '';
    const entry = this.#entries.get(uid);
    const old = entry?.status ?? this.#deps.apiPod(uid)?.status ?? pod.status ?? {};
    const settled = settleStatus(pod, old, status, this.#deps.clock.now());
    if (entry && !force && equalJson(entry.status, settled)) {
      entry.pod = pod;
      return;
    }
    this.#deps.state.learnPodIPs(
      uid,
      (settled.podIPs ?? []).map(({ ip }) => ip),
    );
    const next: Entry = entry ?? { pod, status: settled, finished: false, dirty: true, writing: false };
    Object.assign(next, { pod, status: settled, dirty: true });
    this.#entries.set(uid, next);
    void this.#write(uid, next);
  }

  /** The pod has a sandbox with its network: said at once, as its worker looks again only when images are pulled and containers run. */
  sandboxReady(pod: Pod): void {
    const status = this.get(pod.metadata.uid ?? '');
    if (status === undefined) return;
    const met = ({ reason: _reason, message: _message, ...rest }: PodCondition): PodCondition => ({ ...rest, status: 'True' });
    const conditions = status.conditions?.map((one) => (one.type === 'PodReadyToStartContainers' ? met(one) : one));
    this.set(pod, { ...status, ...(conditions && { conditions }) });
  }

  /** Nothing of the pod is left on the node: gives the final status, after which a deleted pod may go. */
  finish(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const current = this.#entries.get(uid)?.status ?? pod.status ?? {};
    const entry = this.#entries.get(uid);
    if (entry) entry.finished = true;
    this.set(pod, finalStatus(pod, current), true);
    const set = this.#entries.get(uid);
    if (set) set.finished = true;
  }

  /** The API's pod changed: what is written must stay, and a deletion may now be due. */
  observe(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    if (versionOf(pod) >= versionOf(entry.answer)) entry.answer = undefined;
    entry.dirty = true;
    void this.#write(uid, entry);
  }

  forget(uid: string): void {
    this.#entries.get(uid)?.retry?.cancel();
    this.#entries.delete(uid);
    this.#deps.state.forgetPod(uid);
  }

  close(): void {
    this.#closed = true;
    for (const { retry } of this.#entries.values()) retry?.cancel();
  }

  async #write(uid: string, entry: Entry): Promise<void> {
    if (entry.writing || this.#deps.client === undefined) return;
    entry.writing = true;
    try {
      while (entry.dirty && !this.#closed && this.#entries.get(uid) === entry) {
        entry.dirty = false;
        await this.#sync(uid, entry);
      }
    } catch (error) {
      if (!isNotFound(error) && !this.#closed) {
        this.#deps.logger.debug('Failed to update status for pod', { pod: entry.pod.metadata.name, error: String(error) });
        entry.dirty = true;
        entry.retry = this.#deps.clock.setTimer(statusRetryMs, () => void this.#write(uid, entry));
      }
    } finally {
      entry.writing = false;
    }
  }

  async #sync(uid: string, entry: Entry): Promise<void> {
    const known = this.#deps.apiPod(uid);
    if (known === undefined || this.#deps.client === undefined) return;
    let pod = versionOf(entry.answer) > versionOf(known) ? (entry.answer as Pod) : known;
    const { namespace, name = '', uid: apiUid } = pod.metadata;
    const client = this.#deps.client.resource<Pod>(pods, namespace);
    const merged = mergeStatus(pod, entry.status, !entry.finished && this.#deps.couldBeRunning(uid));
    const patch = statusPatch(pod.status ?? {}, merged);
    if (patch !== undefined) {
      const body = { metadata: { uid: apiUid }, status: patch };
      pod = await client.patch(name, 'application/strategic-merge-patch+json', body, { subresource: 'status' });
      entry.answer = pod;
    }
    if (
      !entry.finished ||
      pod.metadata.deletionTimestamp === undefined ||
      isMirrorPod(pod) ||
      !isTerminalPhase(pod.status?.phase)
    )
      return;
    try {
      await client.delete(name, { gracePeriodSeconds: 0, preconditions: { uid: apiUid } });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    this.forget(uid);
  }
}
