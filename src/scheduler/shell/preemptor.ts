// Takes victims off a node for a pod that preempts them (upstream pkg/scheduler/framework/preemption executor.go).
import type { Pod } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { EventRecorder, KubeClient } from '#client';
import type { Clock, Logger } from '#utils';
import type { PodInfo, Preemption } from '../framework/index.ts';
import type { Nominator } from '../queue/index.ts';
import { patchPodStatus } from './pod-status.ts';
import { pods } from './resources.ts';

export interface PreemptorDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  recorder: EventRecorder;
  nominator: Nominator;
  /** The newest version of a pod, if it still is. */
  current(info: PodInfo): Pod | undefined;
  /** The preemption for this pod is over. */
  onDone(uid: string, failed: boolean): void;
}

export class Preemptor {
  readonly #running = new Set<string>();
  readonly #deps: PreemptorDeps;

  constructor(deps: PreemptorDeps) {
    this.#deps = deps;
  }
  /** While true, trying the pod again would only find its victims still there. */
  isRunning(uid: string): boolean {
    return this.#running.has(uid);
  }
  /** Starts it; the caller does not wait. */
  start(preemptor: PodInfo, preemption: Preemption): void {
    const victims = preemption.victims.filter(({ pod }) => pod.metadata.deletionTimestamp === undefined);
    if (victims.length === 0) return;
    this.#running.add(preemptor.uid);
    void this.#run(preemptor, preemption.nodeName, victims);
  }
  async #run(preemptor: PodInfo, nodeName: string, victims: readonly PodInfo[]): Promise<void> {
    let failed = false;
    try {
      await this.#clearNominations(preemptor, nodeName);
      await Promise.all(victims.map((victim) => this.#preempt(preemptor, nodeName, victim)));
    } catch (error) {
      failed = true;
      this.#deps.logger.error('preemption failed', { pod: preemptor.key, node: nodeName, err: String(error) });
    }
    this.#running.delete(preemptor.uid);
    this.#deps.onDone(preemptor.uid, failed);
  }
  /** Less important pods nominated to the node look for another one. */
  async #clearNominations(preemptor: PodInfo, nodeName: string): Promise<void> {
    const { client, clock, nominator, current, logger } = this.#deps;
    const lower = (nominator.byNode.get(nodeName) ?? []).filter(({ priority }) => priority < preemptor.priority);
    for (const info of lower) {
      nominator.delete(info.uid);
      try {
        await patchPodStatus(client, current(info) ?? info.pod, { nominatedNodeName: '' }, clock.now());
      } catch (error) {
        logger.error('nomination not cleared', { pod: info.key, err: String(error) });
      }
    }
  }
  async #preempt(preemptor: PodInfo, nodeName: string, victim: PodInfo): Promise<void> {
    const { client, clock, recorder, current } = this.#deps;
    const { namespace, name = '' } = victim.pod.metadata;
    const message = `${preemptor.pod.spec?.schedulerName}: preempting to accommodate a higher priority pod`;
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message };
    try {
      await patchPodStatus(client, current(victim) ?? victim.pod, { condition }, clock.now());
      await client.resource(pods, namespace).delete(name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return;
    }
    recorder.event(asObject(victim.pod), 'Normal', 'Preempted', `Preempted by pod ${preemptor.uid} on node ${nodeName}`, {
      action: 'Preempting',
      related: asObject(preemptor.pod),
    });
  }
}

/** The pod with its apiVersion and kind, which objects of lists may leave out. */
export const asObject = (pod: Pod): Pod => ({ ...pod, apiVersion: 'v1', kind: 'Pod' });
