// Brings nodes and pods from the informers into cache and queue (upstream pkg/scheduler/eventhandlers.go).
import type { Node, Pod } from '#api/core/v1';
import { isTerminalPhase } from '#component-helpers/pod';
import type { InformerFactory } from '#client';
import type { SchedulerCache } from '../cache/index.ts';
import { type ClusterEvent, podInfoOf } from '../framework/index.ts';
import type { SchedulingQueue } from '../queue/index.ts';
import { nodeChanges, podChanges } from './changes.ts';
import { nodes, pods } from './resources.ts';

export interface PodEventDeps {
  cache: SchedulerCache;
  queue: SchedulingQueue;
  /** Whether one of the profiles is the pod's scheduler. */
  isOurs(pod: Pod): boolean;
  onEvent(event: ClusterEvent): void;
  /** A pod that was not placed is gone. */
  onGone(pod: Pod): void;
}

const isPlaced = (pod: Pod): boolean => Boolean(pod.spec?.nodeName);
const isOver = (pod: Pod): boolean => isTerminalPhase(pod.status?.phase);

function watchNodes(informers: InformerFactory, { cache, onEvent }: PodEventDeps): void {
  informers.informer<Node>(nodes).addHandler({
    onAdd(now) {
      cache.setNode(now);
      onEvent({ resource: 'Node', actions: ['Add'], now });
    },
    onUpdate(now, old) {
      cache.setNode(now);
      const actions = nodeChanges(old, now);
      if (actions.length > 0) onEvent({ resource: 'Node', actions, old, now });
    },
    onDelete(old) {
      cache.removeNode(old.metadata.name ?? '');
      onEvent({ resource: 'Node', actions: ['Delete'], old });
    },
  });
}

class PodHandler {
  readonly #deps: PodEventDeps;

  constructor(deps: PodEventDeps) {
    this.#deps = deps;
  }
  onAdd(now: Pod): void {
    if (isOver(now)) return;
    if (isPlaced(now)) this.#placed(now);
    else if (this.#deps.isOurs(now)) this.#wait(now);
  }
  onUpdate(now: Pod, old: Pod): void {
    if (isOver(now) || now.metadata.uid !== old.metadata.uid) {
      if (!isOver(old)) this.#gone(old);
      if (!isOver(now)) this.onAdd(now);
      return;
    }
    if (isPlaced(now)) {
      if (isPlaced(old)) this.#changed(now, old);
      else this.#placed(now);
      return;
    }
    const { queue, isOurs } = this.#deps;
    if (!isOurs(now)) return;
    const actions = podChanges(old, now);
    if (actions.length === 0) this.#wait(now);
    else if (!this.#deps.cache.isAssumed(now.metadata.uid ?? '')) {
      queue.update(podInfoOf(now), { resource: 'Pod', actions, old, now });
      this.#deps.onEvent({ resource: 'Pod', actions, old, now });
    }
  }
  onDelete(old: Pod): void {
    if (!isOver(old)) this.#gone(old);
  }
  #wait(now: Pod): void {
    const { cache, queue } = this.#deps;
    if (cache.isAssumed(now.metadata.uid ?? '')) return;
    queue.add(podInfoOf(now));
  }
  #placed(now: Pod): void {
    const { cache, queue, onEvent } = this.#deps;
    queue.delete(now.metadata.uid ?? '');
    cache.setPod(now);
    onEvent({ resource: 'Pod', actions: ['Add'], now });
  }
  #changed(now: Pod, old: Pod): void {
    const { cache, onEvent } = this.#deps;
    cache.setPod(now);
    const actions = podChanges(old, now);
    if (actions.length > 0) onEvent({ resource: 'Pod', actions, old, now });
  }
  #gone(old: Pod): void {
    const { cache, queue, onEvent, onGone } = this.#deps;
    const uid = old.metadata.uid ?? '';
    cache.removePod(uid);
    queue.delete(uid);
    if (!isPlaced(old)) onGone(old);
    onEvent({ resource: 'Pod', actions: ['Delete'], old });
  }
}

export function watchCluster(informers: InformerFactory, deps: PodEventDeps): void {
  watchNodes(informers, deps);
  const handler = new PodHandler(deps);
  informers.informer<Pod>(pods).addHandler({
    onAdd: (now) => handler.onAdd(now),
    onUpdate: (now, old) => handler.onUpdate(now, old),
    onDelete: (old) => handler.onDelete(old),
  });
}
