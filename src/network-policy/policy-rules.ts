// The chain of one policy in one direction, and the sets that it asks. A chain only lets through; that everything else is dropped is said where pods are
// sent to the chains of all policies that select them. Pure.
import type { Labels } from '#apimachinery/labels';
import type { Direction, Peer, PodFacts, PolicyFacts, PortRange, Protocol, RuleFacts } from './facts.ts';
import { type Elements, isPeer } from './groups.ts';
import { hashedName } from './names.ts';
import { addressNumber, covers, type Range, rangeText } from './ranges.ts';
import type { Chain, Match, NamedSet, Rule, SetType } from './ruleset.ts';

export interface PolicyChain {
  chain: Chain;
  /** Sets whose elements come from pods. */
  groups: Map<string, { type: SetType; elementsOf: Elements }>;
  /** Sets that never change. */
  fixed: Map<string, NamedSet>;
}

const accept = { kind: 'accept' } as const;

/** Everything that makes one peer different from another. */
const peerText = ({ namespace, namespaces, pods }: Peer): readonly unknown[] => [
  namespace ?? null,
  namespaces ? [namespaces.nothing, namespaces.toString()] : null,
  [pods.nothing, pods.toString()],
];
const peersText = (peers: readonly Peer[]): readonly string[] =>
  [...new Set(peers.map((peer) => JSON.stringify(peerText(peer))))].sort();

/** The numbered ports as conditions, one a protocol; neighbours become one range. */
function portMatches(ports: readonly PortRange[]): Match[] {
  const byProtocol = new Map<Protocol, [number, number][]>();
  for (const { protocol, first, last } of [...ports].sort((a, b) => a.first - b.first)) {
    const ranges = byProtocol.get(protocol) ?? [];
    const previous = ranges.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else ranges.push([first, last]);
    byProtocol.set(protocol, ranges);
  }
  return [...byProtocol].map(([protocol, ranges]) => {
    const all = ranges.length === 1 && ranges[0]?.[0] === 0 && ranges[0][1] === 65_535;
    return { kind: 'ports', protocol, ...(!all && { ports: ranges }) };
  });
}

/** Where a pod listens under the names of a rule. */
const destinations = (pod: PodFacts, named: ReadonlySet<string>): string[] =>
  pod.ports.filter((port) => named.has(nameText(port))).map(({ protocol, port }) => `${pod.ip} . ${protocol} . ${port}`);

const nameText = ({ name, protocol }: { name: string; protocol: Protocol }): string => `${protocol} ${name}`;

export class PolicyChainBuilder {
  readonly #policy: PolicyFacts;
  readonly #direction: Direction;
  readonly #rules: Rule[] = [];
  readonly #groups: PolicyChain['groups'] = new Map();
  readonly #fixed: PolicyChain['fixed'] = new Map();

  constructor(policy: PolicyFacts, direction: Direction) {
    this.#policy = policy;
    this.#direction = direction;
  }
  build(): PolicyChain {
    for (const rule of this.#policy[this.#direction] ?? []) this.#add(rule);
    return { chain: { rules: this.#rules }, groups: this.#groups, fixed: this.#fixed };
  }

  #add(rule: RuleFacts): void {
    const from: Match[][] = rule.anybody ? [[]] : [...this.#peers(rule.peers), ...this.#blocks(rule.blocks)];
    const to: Match[][] = rule.anyPort ? [[]] : portMatches(rule.ports).map((match) => [match]);
    for (const peer of from) for (const port of to) this.#rules.push({ matches: [...peer, ...port], verdict: accept });
    if (rule.named.length === 0) return;
    if (this.#direction === 'egress') this.#rules.push({ matches: [this.#namedOfPeers(rule)], verdict: accept });
    else for (const peer of from) this.#rules.push({ matches: [...peer, this.#namedOfSelected(rule)], verdict: accept });
  }
  #peers(peers: readonly Peer[]): Match[][] {
    if (peers.length === 0) return [];
    const set = hashedName('peers', peersText(peers));
    const elementsOf: Elements = (pod, namespace) =>
      pod.ip !== undefined && peers.some((peer) => isPeer(peer, pod, namespace)) ? [pod.ip] : [];
    this.#groups.set(set, { type: 'address', elementsOf });
    return [[{ kind: 'address', field: this.#direction === 'ingress' ? 'saddr' : 'daddr', set }]];
  }
  #blocks(blocks: readonly Range[]): Match[][] {
    if (blocks.length === 0) return [];
    const set = hashedName('block', blocks);
    this.#fixed.set(set, { type: 'range', elements: new Map(blocks.map((range) => [rangeText(range), ''])) });
    return [[{ kind: 'address', field: this.#direction === 'ingress' ? 'saddr' : 'daddr', set }]];
  }
  /** A name means what each pod that the policy selects calls so. */
  #namedOfSelected({ named }: RuleFacts): Match {
    const { namespace, pods } = this.#policy;
    const names = new Set(named.map(nameText));
    const set = hashedName('ports', [namespace, pods.nothing, pods.toString(), named]);
    const elementsOf: Elements = (pod) =>
      !pod.hostNetwork && pod.namespace === namespace && pods.matches(pod.labels) ? destinations(pod, names) : [];
    this.#groups.set(set, { type: 'destination', elementsOf });
    return { kind: 'destination', set };
  }
  /** A name means what each pod that is reached calls so: outside of pods nobody has names for ports. */
  #namedOfPeers({ anybody, peers, blocks, named }: RuleFacts): Match {
    const names = new Set(named.map(nameText));
    const set = hashedName('ports', [anybody, peersText(peers), blocks, named]);
    const isReached = (pod: PodFacts, namespace: Labels | undefined): boolean =>
      anybody || peers.some((peer) => isPeer(peer, pod, namespace)) || covers(blocks, addressNumber(pod.ip ?? '') ?? -1);
    const elementsOf: Elements = (pod, namespace) =>
      !pod.hostNetwork && isReached(pod, namespace) ? destinations(pod, names) : [];
    this.#groups.set(set, { type: 'destination', elementsOf });
    return { kind: 'destination', set };
  }
}
