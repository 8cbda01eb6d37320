// What network policies mean for a pod, and what a policy does, in sentences: which peers and ports, why, and which pods these are now. Pure.
import type { Namespace, Pod } from '#api/core/v1';
import type * as networking from '#api/networking/v1';
import { type Direction, peerOf, type PodFacts, podFacts, type PolicyFacts, policyFacts } from './facts.ts';
import { isPeer } from './groups.ts';
import { namesShownMax } from './limits.ts';

export interface PolicyWorld {
  pods: readonly Pod[];
  namespaces: readonly Namespace[];
  policies: readonly networking.NetworkPolicy[];
}

const directions: readonly Direction[] = ['ingress', 'egress'];
const words = { ingress: { with: 'from', verb: 'is reached by' }, egress: { with: 'to', verb: 'reaches' } } as const;

const someOf = (names: readonly string[]): string => {
  const shown = names.slice(0, namesShownMax).join(', ');
  return names.length > namesShownMax ? `${shown} and ${names.length - namesShownMax} more` : shown || 'none';
};

function portText({ protocol, port, endPort }: networking.NetworkPolicyPort): string {
  const range = endPort ? `${port}-${endPort}` : String(port ?? 'any port');
  return `${protocol ?? 'TCP'} ${range}`;
}
const portsText = (ports: readonly networking.NetworkPolicyPort[] | null | undefined): string =>
  ports && ports.length > 0 ? ports.map(portText).join(', ') : 'any port';

class Explainer {
  readonly #pods: readonly PodFacts[];
  readonly #namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;

  constructor({ pods, namespaces }: PolicyWorld) {
    this.#pods = pods.flatMap((pod) => podFacts(pod) ?? []);
    this.#namespaces = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  }
  selectedBy({ namespace, pods }: PolicyFacts): string[] {
    return this.#pods
      .filter((pod) => !pod.hostNetwork && pod.namespace === namespace && pods.matches(pod.labels))
      .map(({ key }) => key);
  }
  /** One line a peer of a rule. */
  rule(policy: networking.NetworkPolicy, direction: Direction, index: number): string[] {
    const { ingress, egress } = policy.spec ?? {};
    const { peers, ports } =
      direction === 'ingress'
        ? { peers: ingress?.[index]?.from, ports: ingress?.[index]?.ports }
        : { peers: egress?.[index]?.to, ports: egress?.[index]?.ports };
    const on = `${portsText(ports)} (policy ${policy.metadata.name})`;
    if (!peers || peers.length === 0) return [`${words[direction].with} everybody, ${on}`];
    return peers.map((peer) => `${words[direction].with} ${this.#peerText(peer, policy)}, ${on}${this.#now(peer, policy)}`);
  }
  #peerText({ ipBlock, podSelector, namespaceSelector }: networking.NetworkPolicyPeer, policy: networking.NetworkPolicy): string {
    if (ipBlock) {
      const except = ipBlock.except && ipBlock.except.length > 0 ? ` except ${ipBlock.except.join(', ')}` : '';
      return `addresses ${ipBlock.cidr}${except}`;
    }
    const peer = peerOf({ podSelector, namespaceSelector } as networking.NetworkPolicyPeer, policy.metadata.namespace ?? '');
    if (!peer) return 'nobody';
    const pods = peer.pods.nothing ? 'no pods' : peer.pods.empty ? 'all pods' : `pods ${peer.pods.toString()}`;
    if (!peer.namespaces) return `${pods} of namespace ${peer.namespace}`;
    return `${pods} of ${peer.namespaces.empty ? 'all namespaces' : `namespaces ${peer.namespaces.toString()}`}`;
  }
  #now({ ipBlock, ...rest }: networking.NetworkPolicyPeer, policy: networking.NetworkPolicy): string {
    if (ipBlock) return '';
    const peer = peerOf(rest, policy.metadata.namespace ?? '');
    const names = this.#pods
      .filter((pod) => peer && isPeer(peer, pod, this.#namespaces.get(pod.namespace)))
      .map(({ key }) => key);
    return `: now ${someOf(names)}`;
  }
}

/** Sentences that say who may reach a pod and whom it may reach, and by which policy. */
export function explainPod(pod: Pod, world: PolicyWorld): string[] {
  const facts = podFacts(pod);
  if (!facts) return ['network policies: none counts for a pod that has ended'];
  if (facts.hostNetwork) return ['network policies: none counts for a pod on the network of its node'];
  const explainer = new Explainer(world);
  const selecting = world.policies
    .map((policy) => ({ policy, facts: policyFacts(policy) }))
    .filter((one) => one.facts.namespace === facts.namespace && one.facts.pods.matches(facts.labels));
  return directions.flatMap((direction) => {
    const speaking = selecting.filter((one) => one.facts[direction]);
    const { verb } = words[direction];
    if (speaking.length === 0) return [`network policies, ${direction}: none selects it, it ${verb} everybody`];
    const allowed = speaking.flatMap(({ policy, facts: { [direction]: rules = [] } }) =>
      rules.flatMap((_, index) => explainer.rule(policy, direction, index)),
    );
    const policies = speaking.map(({ policy }) => policy.metadata.name).join(', ');
    return [
      `network policies, ${direction}: selected by ${policies}; it ${verb} itself, its node, and ${allowed.length > 0 ? 'only:' : 'nobody else'}`,
      ...allowed.map((line) => `  ${line}`),
    ];
  });
}

/** Which pods a policy selects and what it allows them. */
export function explainPolicy(policy: networking.NetworkPolicy, world: PolicyWorld): string[] {
  const facts = policyFacts(policy);
  const explainer = new Explainer(world);
  const selected = explainer.selectedBy(facts);
  const pods = facts.pods.empty ? `all pods of ${facts.namespace}` : `pods ${facts.pods.toString()} of ${facts.namespace}`;
  return [
    `selects ${pods}: now ${someOf(selected)}`,
    ...directions.flatMap((direction) => {
      const rules = facts[direction];
      if (!rules) return [`${direction}: says nothing about it`];
      if (rules.length === 0) return [`${direction}: allows nothing`];
      return [
        `${direction}: allows only what any policy of the pods allows, this one:`,
        ...rules.flatMap((_, index) => explainer.rule(policy, direction, index)).map((line) => `  ${line}`),
      ];
    }),
  ];
}
