// Keeps the snapshot in step with the informers, and ahead of them for pods that were just placed (upstream pkg/scheduler/backend/cache).
import type { Node, Pod, PodCondition } from '#api/core/v1';
import { deepEqual } from '#utils';
import { type PodInfo, podInfoOf, Snapshot } from '../framework/index.ts';

/** Most updates of placed pods are about their status: what they take and how they are counted stays the same. */
function countsAlike(old: Pod, now: Pod): boolean {
  return (
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    deepEqual(old.metadata.labels, now.metadata.labels) &&
    deepEqual(old.spec?.containers, now.spec?.containers) &&
    deepEqual(old.spec?.initContainers, now.spec?.initContainers) &&
    deepEqual(old.spec?.resources, now.spec?.resources) &&
    deepEqual(old.status?.containerStatuses, now.status?.containerStatuses) &&
    deepEqual(old.status?.initContainerStatuses, now.status?.initContainerStatuses) &&
    deepEqual(old.status?.conditions?.find(isResize), now.status?.conditions?.find(isResize))
  );
}

const isResize = ({ type }: PodCondition): boolean => type === 'PodResizePending';

export class SchedulerCache {
  readonly snapshot = new Snapshot();
  /** Node of every pod that has one, by uid. */
  readonly #places = new Map<string, string>();
  readonly #assumed = new Set<string>();
  /** Pods on nodes that are not there (yet), by node name and uid. */
  readonly #homeless = new Map<string, Map<string, PodInfo>>();

  setNode(node: Node): void {
    this.snapshot.setNode(node);
    const name = node.metadata.name ?? '';
    const waiting = this.#homeless.get(name);
    if (waiting === undefined) return;
    this.#homeless.delete(name);
    for (const pod of waiting.values()) this.snapshot.addPod(name, pod);
  }
  removeNode(name: string): void {
    const pods = this.snapshot.byName.get(name)?.pods;
    if (pods !== undefined && pods.size > 0) this.#homeless.set(name, new Map(pods));
    this.snapshot.removeNode(name);
  }
  /** A pod that the API says is on a node; confirms an assumed one. */
  setPod(pod: Pod): void {
    const { uid = '' } = pod.metadata;
    const nodeName = pod.spec?.nodeName ?? '';
    this.#assumed.delete(uid);
    const known = this.#places.get(uid) === nodeName ? this.snapshot.byName.get(nodeName)?.pods.get(uid) : undefined;
    if (known !== undefined && countsAlike(known.pod, pod)) this.snapshot.refreshPod(nodeName, { ...known, pod });
    else this.#place(podInfoOf(pod), nodeName);
  }
  removePod(uid: string): void {
    const name = this.#places.get(uid);
    if (name === undefined) return;
    this.#places.delete(uid);
    this.#assumed.delete(uid);
    this.snapshot.removePod(name, uid);
    this.#homeless.get(name)?.delete(uid);
  }
  /** Counts the pod as placed before the API says so. */
  assume(info: PodInfo, nodeName: string): void {
    this.#assumed.add(info.uid);
    this.#place(info, nodeName);
  }
  /** Takes back an assumption that the API did not confirm. */
  forget(uid: string): void {
    if (this.#assumed.has(uid)) this.removePod(uid);
  }
  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }
  isPlaced(uid: string): boolean {
    return this.#places.has(uid);
  }
  #place(info: PodInfo, nodeName: string): void {
    const old = this.#places.get(info.uid);
    if (old !== undefined && old !== nodeName) this.removePod(info.uid);
    this.#places.set(info.uid, nodeName);
    if (this.snapshot.addPod(nodeName, info)) return;
    const waiting = this.#homeless.get(nodeName);
    if (waiting) waiting.set(info.uid, info);
    else this.#homeless.set(nodeName, new Map([[info.uid, info]]));
  }
}
