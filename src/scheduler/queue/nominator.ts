// Pods that are to run on a node once it has room for them (upstream pkg/scheduler/backend/queue nominator).
import type { PodInfo } from '../framework/index.ts';

export class Nominator {
  readonly #places = new Map<string, string>();
  readonly #byNode = new Map<string, PodInfo[]>();

  get byNode(): ReadonlyMap<string, readonly PodInfo[]> {
    return this.#byNode;
  }
  nodeOf(uid: string): string | undefined {
    return this.#places.get(uid);
  }
  /** An empty name only takes the nomination back. */
  set(info: PodInfo, nodeName: string): void {
    this.delete(info.uid);
    if (nodeName === '') return;
    this.#places.set(info.uid, nodeName);
    const pods = this.#byNode.get(nodeName);
    if (pods) pods.push(info);
    else this.#byNode.set(nodeName, [info]);
  }
  delete(uid: string): void {
    const name = this.#places.get(uid);
    if (name === undefined) return;
    this.#places.delete(uid);
    const rest = (this.#byNode.get(name) ?? []).filter((pod) => pod.uid !== uid);
    if (rest.length === 0) this.#byNode.delete(name);
    else this.#byNode.set(name, rest);
  }
}
