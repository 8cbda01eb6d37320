// The cluster as the scheduler sees it: nodes, the pods on them, and views derived from both that follow changes instead of being rebuilt.
// Upstream copies its cache into a snapshot per cycle (pkg/scheduler/backend/cache); a cycle here runs to its end without a pause,
// so the cache itself is the snapshot.
import type { Node } from '#api/core/v1';
import { deepEqual, own } from '#utils';
import { ChangeLog } from './change-log.ts';
import { derivedViewsMax } from './limits.ts';
import { addPod, type NodeInfo, nodeInfoOf, removePod, setNode } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** The values of one label over all nodes: `ids[node.index]` is a place in `values`, or -1. */
export interface LabelColumn {
  readonly ids: Int32Array;
  readonly values: readonly string[];
}

interface Tally {
  structure: number;
  version: number;
  counts: Int32Array;
}

interface Column extends LabelColumn {
  labels: number;
}

/** Keeps a map within bounds by dropping what was made first. */
export function remember<V>(map: Map<string, V>, key: string, value: V, max: number): V {
  map.set(key, value);
  for (const first of map.keys()) {
    if (map.size <= max) break;
    map.delete(first);
  }
  return value;
}

export class Snapshot {
  readonly nodes: NodeInfo[] = [];
  readonly byName = new Map<string, NodeInfo>();
  readonly log = new ChangeLog();
  readonly nodesWithAffinity = new Set<NodeInfo>();
  readonly nodesWithRequiredAntiAffinity = new Set<NodeInfo>();
  /** Placed pods with affinity by what they ask for: how many, and one of them. */
  readonly affinityGroups = new Map<string, { count: number; sample: PodInfo }>();
  /** Nodes that have each image, by normalised name. */
  readonly imageNodes = new Map<string, number>();
  /** How many pods on nodes use each claim, by `namespace/name`. */
  readonly claimUsers = new Map<string, number>();
  /** Rises when nodes come or go. */
  structure = 0;
  /** Rises when a node's labels or taints change, or nodes come or go. */
  labels = 0;
  /** Rises when a node's images change. */
  images = 0;
  readonly #tallies = new Map<string, Tally>();
  readonly #columns = new Map<string, Column>();
  readonly #memos = new WeakMap<object, unknown>();

  setNode(node: Node): void {
    const known = this.byName.get(node.metadata.name ?? '');
    if (known === undefined) {
      const info = nodeInfoOf(node);
      info.index = this.nodes.length;
      this.nodes.push(info);
      this.byName.set(info.name, info);
      this.#countImages(info, 1);
      this.structure++;
      this.labels++;
      return;
    }
    const old = known.node;
    const imagesChanged = !deepEqual(old.status?.images, node.status?.images);
    if (imagesChanged) this.#countImages(known, -1);
    setNode(known, node);
    if (imagesChanged) this.#countImages(known, 1);
    if (!deepEqual(old.metadata.labels, node.metadata.labels) || !deepEqual(old.spec, node.spec)) this.labels++;
    this.log.add(known.index);
  }
  /** Pods still on it go with it; they come back with `addPod` if the node does. */
  removeNode(name: string): void {
    const info = this.byName.get(name);
    if (info === undefined) return;
    for (const pod of info.pods.values()) this.#count(pod, -1);
    this.#countImages(info, -1);
    this.byName.delete(name);
    this.nodesWithAffinity.delete(info);
    this.nodesWithRequiredAntiAffinity.delete(info);
    const last = this.nodes.pop();
    if (last !== undefined && last !== info) {
      last.index = info.index;
      this.nodes[info.index] = last;
    }
    this.structure++;
    this.labels++;
  }
  /** Puts a pod on a node; false when there is no such node. */
  addPod(nodeName: string, pod: PodInfo): boolean {
    const info = this.byName.get(nodeName);
    if (info === undefined) return false;
    const replaced = info.pods.get(pod.uid);
    if (replaced) this.#count(replaced, -1);
    addPod(info, pod);
    this.#count(pod, 1);
    this.#podsChanged(info);
    return true;
  }
  /** Takes over a newer version of a placed pod that differs in nothing that scheduling looks at; false when it is not there. */
  refreshPod(nodeName: string, pod: PodInfo): boolean {
    const info = this.byName.get(nodeName);
    if (info === undefined || !info.pods.has(pod.uid)) return false;
    for (const pods of [info.pods, info.podsWithAffinity, info.podsWithRequiredAntiAffinity, info.podsWithPorts]) {
      if (pods.has(pod.uid)) pods.set(pod.uid, pod);
    }
    return true;
  }
  removePod(nodeName: string, uid: string): void {
    const info = this.byName.get(nodeName);
    const pod = info && removePod(info, uid);
    if (info === undefined || pod === undefined) return;
    this.#count(pod, -1);
    this.#podsChanged(info);
  }
  #podsChanged(info: NodeInfo): void {
    toggle(this.nodesWithAffinity, info, info.podsWithAffinity.size > 0);
    toggle(this.nodesWithRequiredAntiAffinity, info, info.podsWithRequiredAntiAffinity.size > 0);
    this.log.add(info.index);
  }
  #count(pod: PodInfo, by: 1 | -1): void {
    for (const claim of pod.claims) addTo(this.claimUsers, `${pod.namespace}/${claim}`, by);
    if (!pod.hasAffinity) return;
    const count = (this.affinityGroups.get(pod.affinityKey)?.count ?? 0) + by;
    if (count === 0) this.affinityGroups.delete(pod.affinityKey);
    else this.affinityGroups.set(pod.affinityKey, { count, sample: pod });
  }
  #countImages(info: NodeInfo, by: 1 | -1): void {
    if (info.images.size === 0) return;
    for (const image of info.images.keys()) addTo(this.imageNodes, image, by);
    this.images++;
  }

  /**
   * Pods per node (by index) for which `matches` is true. `key` names the question: the same key must always mean the same answer
   * for the same pod. The array is the snapshot's own.
   */
  podCounts(key: string, matches: (pod: PodInfo) => boolean): Int32Array {
    const known = this.#tallies.get(key);
    const tally =
      known !== undefined && known.structure === this.structure && this.log.covers(known.version)
        ? known
        : remember(this.#tallies, key, this.#newTally(matches), derivedViewsMax);
    const recount = (index: number): void => {
      tally.counts[index] = countMatching(this.nodes[index] as NodeInfo, matches);
    };
    this.log.replay(tally.version, recount);
    tally.version = this.log.version;
    return tally.counts;
  }
  #newTally(matches: (pod: PodInfo) => boolean): Tally {
    const counts = new Int32Array(this.nodes.length);
    for (const node of this.nodes) counts[node.index] = countMatching(node, matches);
    return { structure: this.structure, version: this.log.version, counts };
  }
  /** One label's values over all nodes. */
  labelColumn(key: string): LabelColumn {
    const known = this.#columns.get(key);
    if (known?.labels === this.labels) return known;
    const ids = new Int32Array(this.nodes.length);
    const places = new Map<string, number>();
    for (const { node, index } of this.nodes) {
      const value = own(node.metadata.labels ?? {}, key);
      let id = -1;
      if (value !== undefined) {
        id = places.get(value) ?? places.size;
        places.set(value, id);
      }
      ids[index] = id;
    }
    return remember(this.#columns, key, { ids, values: [...places.keys()], labels: this.labels }, derivedViewsMax);
  }
  /** What `make` gave for this owner the first time. */
  memo<T>(owner: object, make: () => T): T {
    let memo = this.#memos.get(owner) as T | undefined;
    if (memo === undefined) {
      memo = make();
      this.#memos.set(owner, memo);
    }
    return memo;
  }
}

function toggle<T>(set: Set<T>, item: T, wanted: boolean): void {
  if (wanted) set.add(item);
  else set.delete(item);
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function countMatching(node: NodeInfo, matches: (pod: PodInfo) => boolean): number {
  let count = 0;
  for (const pod of node.pods.values()) if (matches(pod)) count++;
  return count;
}
