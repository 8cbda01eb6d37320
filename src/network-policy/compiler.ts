// From pods, namespaces and policies to the rules of one node. It is told of changes and works them off in small steps; what a change does not touch stays
// the very same object, so that only differences reach the kernel. Pure.
import type { Labels } from '#apimachinery/labels';
import { deepEqual } from '#utils';
import type { Direction, PodFacts, PolicyFacts } from './facts.ts';
import { Groups } from './groups.ts';
import { podsPerStep, portsPerPod } from './limits.ts';
import { commentOf, hashedName } from './names.ts';
import { type PolicyChain, PolicyChainBuilder } from './policy-rules.ts';
import { type Chain, type NamedSet, noRules, type Rule, type Ruleset } from './ruleset.ts';

const directions: readonly Direction[] = ['egress', 'ingress'];
/** Before the filter rules of others; what leaves a pod is judged first, then what enters one. */
const priorities: Readonly<Record<Direction, number>> = { egress: -6, ingress: -5 };

interface Selected {
  pod: PodFacts;
  policies: readonly PolicyFacts[];
  /** The policies that select it. */
  selecting: readonly PolicyFacts[];
}

/** Chains of policies by direction and address of a pod of this node. */
type Profiles = Map<string, Set<PolicyFacts>>;

/** How many ordinary pods a pod is worth: some have thousands of ports. */
const weightOf = (pod: PodFacts | undefined): number => 1 + Math.floor((pod?.ports.length ?? 0) / portsPerPod);

export class Compiler {
  readonly #nodeName: string;
  readonly #pods = new Map<string, PodFacts>();
  readonly #podsOf = new Map<string, Set<string>>();
  readonly #local = new Set<string>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #policies = new Map<string, Map<string, PolicyFacts>>();
  /** Policies of a namespace as a list that changes with them. */
  readonly #lists = new Map<string, readonly PolicyFacts[]>();
  readonly #selected = new Map<string, Selected>();
  readonly #chains = new WeakMap<PolicyFacts, Partial<Record<Direction, PolicyChain>>>();
  readonly #groups = new Groups();
  readonly #changedPods = new Set<string>();
  #isChanged = false;
  #ruleset: Ruleset = noRules;

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }
  /** Takes in what a pod is now; undefined: it is gone. */
  setPod(key: string, pod: PodFacts | undefined): void {
    const before = this.#pods.get(key);
    if (before === pod || (before && pod && deepEqual(before, pod))) return;
    if (pod) {
      this.#pods.set(key, pod);
      const of = this.#podsOf.get(pod.namespace);
      if (of) of.add(key);
      else this.#podsOf.set(pod.namespace, new Set([key]));
    } else {
      this.#pods.delete(key);
      this.#podsOf.get(before?.namespace ?? '')?.delete(key);
    }
    this.#changedPods.add(key);
    const isLocal = pod?.nodeName === this.#nodeName && !pod.hostNetwork;
    if (isLocal || this.#local.has(key)) this.#isChanged = true;
    if (isLocal) this.#local.add(key);
    else this.#local.delete(key);
  }
  pod(key: string): PodFacts | undefined {
    return this.#pods.get(key);
  }
  setNamespace(name: string, labels: Labels | undefined): void {
    const before = this.#namespaces.get(name);
    if (before && labels && deepEqual(before, labels)) return;
    if (labels) this.#namespaces.set(name, labels);
    else this.#namespaces.delete(name);
    for (const key of this.#podsOf.get(name) ?? []) this.#changedPods.add(key);
  }
  setPolicy(key: string, namespace: string, policy: PolicyFacts | undefined): void {
    const of = this.#policies.get(namespace) ?? new Map<string, PolicyFacts>();
    if (policy) of.set(key, policy);
    else of.delete(key);
    if (of.size > 0) this.#policies.set(namespace, of);
    else this.#policies.delete(namespace);
    this.#lists.set(
      namespace,
      [...of.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
    );
    this.#isChanged = true;
  }
  /** Whether any policy selects a pod with these labels. */
  isSelected(pod: PodFacts): boolean {
    return !pod.hostNetwork && (this.#lists.get(pod.namespace) ?? []).some(({ pods }) => pods.matches(pod.labels));
  }
  get isDirty(): boolean {
    return this.#isChanged || this.#changedPods.size > 0;
  }
  /** Works off what changed; after each step others may have a turn. When it is done, `ruleset` says what should be. */
  *settle(): Generator<void, void> {
    while (this.isDirty) {
      if (this.#isChanged) yield* this.#rebuild();
      let count = 0;
      for (const key of this.#changedPods) {
        this.#changedPods.delete(key);
        const pod = this.#pods.get(key);
        this.#groups.show(key, pod, this.#namespaces.get(pod?.namespace ?? ''));
        count += weightOf(pod);
        if (count >= podsPerStep) {
          count = 0;
          yield;
        }
      }
    }
    this.#publish();
  }
  ruleset(): Ruleset {
    return this.#ruleset;
  }

  #profiles: Record<Direction, Profiles> = { egress: new Map(), ingress: new Map() };
  /** Which policies speak about the pods of this node, and which sets they need. */
  *#rebuild(): Generator<void, void> {
    this.#isChanged = false;
    const profiles: Record<Direction, Profiles> = { egress: new Map(), ingress: new Map() };
    for (const key of this.#selected.keys()) if (!this.#local.has(key)) this.#selected.delete(key);
    for (const key of this.#local) {
      const pod = this.#pods.get(key) as PodFacts;
      const { ip } = pod;
      const selecting = this.#selecting(key, pod);
      yield;
      if (ip === undefined) continue;
      for (const direction of directions)
        for (const policy of selecting) {
          if (!policy[direction]) continue;
          // Two pods with one address, of which one is about to go: what either must not do is not done.
          const of = profiles[direction].get(ip);
          if (of) of.add(policy);
          else profiles[direction].set(ip, new Set([policy]));
        }
    }
    this.#profiles = profiles;
    const wanted = new Map(this.#parts().flatMap(({ groups }) => [...groups]));
    const fresh = this.#groups.keep(wanted);
    if (fresh.length === 0) return;
    let count = 0;
    for (const [key, pod] of this.#pods) {
      this.#groups.show(key, pod, this.#namespaces.get(pod.namespace), fresh);
      count += fresh.length * weightOf(pod);
      if (count >= podsPerStep) {
        count = 0;
        yield;
      }
    }
  }
  #selecting(key: string, pod: PodFacts): readonly PolicyFacts[] {
    const policies = this.#lists.get(pod.namespace) ?? [];
    const known = this.#selected.get(key);
    if (known?.pod === pod && known.policies === policies) return known.selecting;
    const selecting = policies.filter(({ pods }) => pods.matches(pod.labels));
    this.#selected.set(key, { pod, policies, selecting });
    return selecting;
  }
  #chainOf(policy: PolicyFacts, direction: Direction): PolicyChain {
    const known = this.#chains.get(policy) ?? {};
    this.#chains.set(policy, known);
    return (known[direction] ??= new PolicyChainBuilder(policy, direction).build());
  }
  /** Chains of all policies that speak about pods of this node. */
  #parts(): (PolicyChain & { name: string })[] {
    const parts = new Map<string, PolicyChain & { name: string }>();
    for (const direction of directions)
      for (const policies of this.#profiles[direction].values())
        for (const policy of policies) {
          const name = hashedName(direction, policy.key);
          if (!parts.has(name)) parts.set(name, { name, ...this.#chainOf(policy, direction) });
        }
    return [...parts.values()];
  }
  #publish(): void {
    const { egress, ingress } = this.#profiles;
    if (egress.size + ingress.size === 0) {
      this.#ruleset = noRules;
      return;
    }
    const parts = this.#parts();
    const sets = new Map<string, NamedSet>([...parts.flatMap(({ fixed }) => [...fixed]), ...this.#groups.sets()]);
    const chains = new Map<string, Chain>(parts.map(({ name, chain }) => [name, chain]));
    const addresses = [...new Set([...egress.keys(), ...ingress.keys()])];
    sets.set('self', this.#same('self', { type: 'pair', elements: new Map(addresses.map((ip) => [`${ip} . ${ip}`, ''])) }));
    for (const direction of directions) {
      const elements = new Map<string, string>();
      for (const [ip, policies] of this.#profiles[direction]) {
        const { name, chain } = profileChain(direction, [...policies]);
        chains.set(name, chain);
        elements.set(ip, name);
      }
      const map = `${direction}-pods`;
      sets.set(map, this.#same(map, { type: 'verdict', elements }));
      chains.set(`forward-${direction}`, baseChain(direction, map));
    }
    this.#ruleset = { sets, chains };
  }
  /** The set as it was, where it is the same. */
  #same(name: string, set: NamedSet): NamedSet {
    const before = this.#ruleset.sets.get(name);
    return before && deepEqual([...before.elements], [...set.elements]) ? before : set;
  }
}

/** Where the pods go that these policies select: what none of them lets through is dropped. */
function profileChain(direction: Direction, policies: readonly PolicyFacts[]): { name: string; chain: Chain } {
  const keys = policies.map(({ key }) => key).sort();
  const rules: Rule[] = keys.map((key) => ({
    matches: [],
    verdict: { kind: 'jump', chain: hashedName(direction, key) },
    ...commentOf(key),
  }));
  return {
    name: hashedName('pods', [direction, keys]),
    chain: { rules: [...rules, { matches: [], verdict: { kind: 'drop' } }] },
  };
}

function baseChain(direction: Direction, map: string): Chain {
  const accept = { kind: 'accept' } as const;
  return {
    priority: priorities[direction],
    rules: [
      { matches: [{ kind: 'reply' }], verdict: accept },
      { matches: [{ kind: 'error' }], verdict: accept },
      // Pods have IPv4 addresses alone; the link-local ones of IPv6 that the kernel gives them are no way around.
      { matches: [{ kind: 'ipv6' }], verdict: { kind: 'drop' } },
      { matches: [{ kind: 'self', set: 'self' }], verdict: accept },
      { matches: [], verdict: { kind: 'lookup', field: direction === 'egress' ? 'saddr' : 'daddr', map } },
    ],
  };
}
