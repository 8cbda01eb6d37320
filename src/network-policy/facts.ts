// What the compiler knows of pods and policies: the objects of the API read once, with everything in them that cannot be understood left out in the
// safe direction (a peer or port that cannot be read allows nothing). Pure.
// The meaning of the fields: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
import type { Container, Pod } from '#api/core/v1';
import type * as networking from '#api/networking/v1';
import { fromLabelSelector, type Labels, type LabelSelector, nothing, type Selector } from '#apimachinery/labels';
import { keyOf } from '#apimachinery/meta';
import { addressNumber, addressText, merged, type Range, rangeOf, without } from './ranges.ts';

export type Direction = 'ingress' | 'egress';
export type Protocol = 'tcp' | 'udp' | 'sctp';

export interface PodFacts {
  /** `namespace/name`. */
  key: string;
  namespace: string;
  uid: string;
  labels: Labels;
  nodeName: string;
  /** It has the addresses of its node: policies neither select it nor know it as a peer. */
  hostNetwork: boolean;
  /** IPv4; absent until it is known. */
  ip?: string;
  ports: readonly { name: string; protocol: Protocol; port: number }[];
}

/** The pods that a peer of a rule stands for. */
export interface Peer {
  /** Pods of this namespace; absent: of the namespaces that `namespaces` selects. */
  namespace?: string;
  namespaces?: Selector;
  pods: Selector;
}

export interface PortRange {
  protocol: Protocol;
  first: number;
  last: number;
}

export interface RuleFacts {
  /** Everybody: the rule names no peers. */
  anybody: boolean;
  peers: readonly Peer[];
  blocks: readonly Range[];
  /** Every port of every protocol: the rule names no ports. */
  anyPort: boolean;
  ports: readonly PortRange[];
  named: readonly { protocol: Protocol; name: string }[];
}

export interface PolicyFacts {
  /** `namespace/name`. */
  key: string;
  namespace: string;
  pods: Selector;
  /** Absent: it says nothing about this direction. */
  ingress?: readonly RuleFacts[];
  egress?: readonly RuleFacts[];
}

const protocols: Readonly<Record<string, Protocol>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };
const protocolOf = (protocol: string | null | undefined): Protocol | undefined =>
  Object.hasOwn(protocols, protocol ?? 'TCP') ? protocols[protocol ?? 'TCP'] : undefined;
const isPort = (port: unknown): port is number => Number.isInteger(port) && (port as number) > 0 && (port as number) <= 65_535;
/** An element that is null has no fields. */
const listOf = <T>(list: readonly T[] | null | undefined): readonly T[] => (list ?? []).map((element) => element ?? ({} as T));

/** Containers that run together with others. */
const serving = ({ initContainers, containers }: NonNullable<Pod['spec']>): Container[] => [
  ...listOf(initContainers).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ...listOf(containers),
];

/** What policies look at of a pod; undefined for one that has ended, because its address may be somebody else's. */
export function podFacts({ metadata, spec, status }: Pod): PodFacts | undefined {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const addresses = [status?.podIP, ...listOf(status?.podIPs).map(({ ip }) => ip)];
  const ip = addresses.map((text) => addressNumber(text ?? '')).find((value) => value !== undefined);
  const ports = (spec ? serving(spec) : []).flatMap((container) =>
    listOf(container.ports).flatMap(({ name, protocol, containerPort: port }) => {
      const known = protocolOf(protocol);
      return name && known && isPort(port) ? [{ name, protocol: known, port }] : [];
    }),
  );
  return {
    key: keyOf(metadata),
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    nodeName: spec?.nodeName ?? '',
    hostNetwork: spec?.hostNetwork ?? false,
    ...(ip !== undefined && { ip: addressText(ip) }),
    ports,
  };
}

/** A selector that cannot be read selects nothing. */
function selectorOf(selector: LabelSelector | null | undefined): Selector {
  try {
    return fromLabelSelector(selector ?? undefined);
  } catch {
    return nothing;
  }
}

/** The pods that a peer of a rule selects; undefined for one that names nobody. */
export function peerOf({ podSelector, namespaceSelector }: networking.NetworkPolicyPeer, namespace: string): Peer | undefined {
  if (!podSelector && !namespaceSelector) return undefined;
  const pods = selectorOf(podSelector ?? {});
  return namespaceSelector ? { namespaces: selectorOf(namespaceSelector), pods } : { namespace, pods };
}

function blockOf({ cidr, except }: networking.IPBlock): Range[] {
  const whole = rangeOf(cidr ?? '');
  if (!whole) return [];
  // An exception that cannot be read takes away the whole block: what it was to take away is not known.
  const holes = listOf(except).map((text) => rangeOf(text) ?? whole);
  return without(whole, holes);
}

function ruleOf(
  peers: readonly networking.NetworkPolicyPeer[] | null | undefined,
  ports: readonly networking.NetworkPolicyPort[] | null | undefined,
  namespace: string,
): RuleFacts {
  const ranges: PortRange[] = [];
  const named: RuleFacts['named'][number][] = [];
  for (const { protocol, port, endPort } of listOf(ports)) {
    const known = protocolOf(protocol);
    if (!known) continue;
    if (port === undefined || port === null) ranges.push({ protocol: known, first: 0, last: 65_535 });
    else if (typeof port === 'string') named.push({ protocol: known, name: port });
    else if (isPort(port)) {
      const last = endPort ?? port;
      if (isPort(last) && last >= port) ranges.push({ protocol: known, first: port, last });
    }
  }
  return {
    anybody: listOf(peers).length === 0,
    peers: listOf(peers).flatMap((peer) => (peer.ipBlock ? [] : (peerOf(peer, namespace) ?? []))),
    blocks: merged(listOf(peers).flatMap(({ ipBlock }) => (ipBlock ? blockOf(ipBlock) : []))),
    anyPort: listOf(ports).length === 0,
    ports: ranges,
    named,
  };
}

export function policyFacts({ metadata, spec }: networking.NetworkPolicy): PolicyFacts {
  const namespace = metadata.namespace ?? '';
  const types = listOf(spec?.policyTypes);
  const egress = types.length === 0 ? listOf(spec?.egress).length > 0 : types.includes('Egress');
  return {
    key: keyOf(metadata),
    namespace,
    pods: selectorOf(spec?.podSelector ?? {}),
    ...((types.length === 0 || types.includes('Ingress')) && {
      ingress: listOf(spec?.ingress).map(({ from, ports }) => ruleOf(from, ports, namespace)),
    }),
    ...(egress && { egress: listOf(spec?.egress).map(({ to, ports }) => ruleOf(to, ports, namespace)) }),
  };
}
