// Keeps the snapshot in step with the informers, and ahead of them for pods that were just placed (upstream pkg/scheduler/backend/cache).
import type { Node, Pod } from '#api/core/v1';
import { type PodInfo, podInfoOf, Snapshot } from '../framework/index.ts';

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
    const info = podInfoOf(pod);
    this.#assumed.delete(info.uid);
    this.#place(info, pod.spec?.nodeName ?? '');
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
