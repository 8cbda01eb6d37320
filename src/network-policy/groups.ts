// Sets whose elements come from pods: which pods belong to each, kept up to date pod by pod, so that one pod's change costs one look at each set. Pure.
import type { Labels } from '#apimachinery/labels';
import type { Peer, PodFacts } from './facts.ts';
import type { NamedSet, SetType } from './ruleset.ts';

/** What one pod contributes to a set; undefined labels of a namespace: nothing is known of it. */
export type Elements = (pod: PodFacts, namespace: Labels | undefined) => readonly string[];

interface Group {
  type: SetType;
  elementsOf: Elements;
  byPod: Map<string, readonly string[]>;
  /** How many pods contribute each element: addresses may overlap while pods come and go. */
  counts: Map<string, number>;
  /** As last given out; undefined once it is out of date. */
  given?: NamedSet | undefined;
}

const none: readonly string[] = [];

/** Whether a pod is one of those that a peer stands for. */
export function isPeer(peer: Peer, pod: PodFacts, namespace: Labels | undefined): boolean {
  if (pod.hostNetwork) return false;
  const here = peer.namespaces ? namespace !== undefined && peer.namespaces.matches(namespace) : pod.namespace === peer.namespace;
  return here && peer.pods.matches(pod.labels);
}

export class Groups {
  readonly #groups = new Map<string, Group>();

  /** Gives the names of groups that are new: every pod is to be shown to them. Groups that are not wanted are forgotten. */
  keep(wanted: ReadonlyMap<string, { type: SetType; elementsOf: Elements }>): string[] {
    for (const name of this.#groups.keys()) if (!wanted.has(name)) this.#groups.delete(name);
    const fresh = [...wanted.keys()].filter((name) => !this.#groups.has(name));
    for (const [name, group] of wanted) {
      const known = this.#groups.get(name);
      if (known) known.elementsOf = group.elementsOf;
      else this.#groups.set(name, { ...group, byPod: new Map(), counts: new Map() });
    }
    return fresh;
  }
  /** A pod as it is now, or undefined for one that is gone, to all groups or those named. */
  show(
    key: string,
    pod: PodFacts | undefined,
    namespace: Labels | undefined,
    names: Iterable<string> = this.#groups.keys(),
  ): void {
    for (const name of names) {
      const group = this.#groups.get(name);
      if (!group) continue;
      const now = pod?.ip === undefined ? none : group.elementsOf(pod, namespace);
      const before = group.byPod.get(key) ?? none;
      if (now.length === before.length && now.every((element, index) => element === before[index])) continue;
      for (const element of now) group.counts.set(element, (group.counts.get(element) ?? 0) + 1);
      for (const element of before) {
        const left = (group.counts.get(element) ?? 1) - 1;
        if (left > 0) group.counts.set(element, left);
        else group.counts.delete(element);
      }
      if (now.length > 0) group.byPod.set(key, now);
      else group.byPod.delete(key);
      group.given = undefined;
    }
  }
  /** All named sets; each is the same object as long as its elements are the same. */
  sets(): [name: string, set: NamedSet][] {
    return [...this.#groups].map(([name, group]) => {
      group.given ??= { type: group.type, elements: new Map([...group.counts.keys()].map((element) => [element, ''])) };
      return [name, group.given];
    });
  }
}
