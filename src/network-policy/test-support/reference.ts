// What the API says of network policies, written down as plainly as possible and without an eye for speed: who may reach whom. The compiler is measured
// against it. https://kubernetes.io/docs/concepts/services-networking/network-policies/
import type { Namespace, Pod } from '#api/core/v1';
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '#api/networking/v1';
import { fromLabelSelector } from '#apimachinery/labels';

export interface World {
  pods: readonly Pod[];
  namespaces: readonly Namespace[];
  policies: readonly NetworkPolicy[];
}

/** A new connection, as it is after Services have been resolved. */
export interface Connection {
  from: string;
  to: string;
  protocol: 'TCP' | 'UDP' | 'SCTP' | 'ICMP';
  port: number;
}

const number = (ip: string): number => ip.split('.').reduce((value, part) => value * 256 + Number(part), 0);
function isIn(cidr: string, ip: string): boolean {
  const [network = '', length = '0'] = cidr.split('/');
  const size = 2 ** (32 - Number(length));
  return Math.floor(number(network) / size) === Math.floor(number(ip) / size);
}

/** The pods that an address stands for: those on the network of a node have none of their own. */
const podsAt = ({ pods }: World, ip: string): Pod[] =>
  pods.filter(
    ({ spec, status }) => !spec?.hostNetwork && status?.podIP === ip && status.phase !== 'Succeeded' && status.phase !== 'Failed',
  );

function isPeer(world: World, peer: NetworkPolicyPeer, policy: NetworkPolicy, ip: string): boolean {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  if (ipBlock) return isIn(ipBlock.cidr, ip) && !(ipBlock.except ?? []).some((cidr) => isIn(cidr, ip));
  return podsAt(world, ip).some(({ metadata }) => {
    const namespace = world.namespaces.find((one) => one.metadata.name === metadata.namespace);
    const here = namespaceSelector
      ? namespace !== undefined && fromLabelSelector(namespaceSelector).matches(namespace.metadata.labels)
      : metadata.namespace === policy.metadata.namespace;
    return here && fromLabelSelector(podSelector ?? {}).matches(metadata.labels);
  });
}

function isPort(world: World, port: NetworkPolicyPort, { to, protocol, port: number }: Connection): boolean {
  if ((port.protocol ?? 'TCP') !== protocol) return false;
  if (port.port === undefined) return true;
  if (typeof port.port === 'number') return number >= port.port && number <= (port.endPort ?? port.port);
  return podsAt(world, to).some(({ spec }) =>
    (spec?.containers ?? []).some(({ ports = [] }) =>
      ports.some((one) => one.name === port.port && (one.protocol ?? 'TCP') === protocol && one.containerPort === number),
    ),
  );
}

function isAllowed(world: World, direction: 'Ingress' | 'Egress', connection: Connection): boolean {
  const { from, to } = connection;
  const [own, other] = direction === 'Ingress' ? [to, from] : [from, to];
  const selecting = world.policies.filter(
    (policy) =>
      (policy.spec?.policyTypes ?? []).includes(direction) &&
      podsAt(world, own).some(
        ({ metadata }) =>
          metadata.namespace === policy.metadata.namespace &&
          fromLabelSelector(policy.spec?.podSelector ?? {}).matches(metadata.labels),
      ),
  );
  if (selecting.length === 0) return true;
  return selecting.some((policy) => {
    const rules =
      direction === 'Ingress'
        ? (policy.spec?.ingress ?? []).map(({ from: peers, ports }) => ({ peers, ports }))
        : (policy.spec?.egress ?? []).map(({ to: peers, ports }) => ({ peers, ports }));
    return rules.some(
      ({ peers = [], ports = [] }) =>
        (peers.length === 0 || peers.some((peer) => isPeer(world, peer, policy, other))) &&
        (ports.length === 0 || ports.some((port) => isPort(world, port, connection))),
    );
  });
}

/** Whether one node forwards a packet: it judges what its own pods send and receive. */
export function isForwarded(world: World, node: string, connection: Connection): boolean {
  const { from, to } = connection;
  const isHere = (ip: string): boolean => podsAt(world, ip).some(({ spec }) => spec?.nodeName === node);
  if (from === to && isHere(from)) return true;
  return (!isHere(from) || isAllowed(world, 'Egress', connection)) && (!isHere(to) || isAllowed(world, 'Ingress', connection));
}
