// Rules of network security groups for one load balancer: of its own group, and of the groups of nodes that the Service names. Each carries the UID of the
// Service. Pure.
import { differenceOf } from 'sagong/cloud-provider/kit';
import type { GroupRule, PortOptions } from '../api/types.ts';
import { groupRuleMark } from '../names.ts';
import type { BalancerPlan } from './plan.ts';

const numbers: Readonly<Record<string, string>> = { TCP: '6', UDP: '17' };

interface Peer {
  name: string;
  type: 'CIDR_BLOCK' | 'NETWORK_SECURITY_GROUP';
}

function rule(mark: string, direction: GroupRule['direction'], { name, type }: Peer, protocol: string, port: number): GroupRule {
  const options: PortOptions = { destinationPortRange: { min: port, max: port } };
  return {
    description: mark,
    direction,
    protocol: numbers[protocol] ?? protocol,
    isStateless: false,
    ...(protocol === 'UDP' ? { udpOptions: options } : { tcpOptions: options }),
    ...(direction === 'EGRESS' ? { destination: name, destinationType: type } : { source: name, sourceType: type }),
  };
}

const ranges = (cidrs: readonly string[]): Peer[] => cidrs.map((name) => ({ name, type: 'CIDR_BLOCK' }));
const groups = (ids: readonly string[]): Peer[] => ids.map((name) => ({ name, type: 'NETWORK_SECURITY_GROUP' }));

type RulePlan = Pick<BalancerPlan, 'service' | 'ports' | 'health' | 'sourceRanges' | 'backendGroups' | 'preservesSource'>;

/** The rules of the group that the load balancer is in: clients come in, and it reaches the groups of nodes. */
export function frontendRules({ service, ports, health, sourceRanges, backendGroups }: RulePlan): GroupRule[] {
  const mark = groupRuleMark(service);
  const each = (direction: GroupRule['direction'], peers: readonly Peer[], portOf: (plan: RulePlan['ports'][number]) => number) =>
    ports.flatMap((plan) =>
      plan.protocols.flatMap((protocol) => peers.map((peer) => rule(mark, direction, peer, protocol, portOf(plan)))),
    );
  return [
    ...each('INGRESS', ranges(sourceRanges), ({ port }) => port),
    ...each('EGRESS', groups(backendGroups), ({ nodePort }) => nodePort),
    ...groups(backendGroups).map((peer) => rule(mark, 'EGRESS', peer, 'TCP', health.port)),
  ];
}

/** The rules of a group of nodes that let traffic and health checks of a load balancer in. */
export function backendRules({ service, ports, health, sourceRanges, preservesSource }: RulePlan, frontend: string): GroupRule[] {
  const mark = groupRuleMark(service);
  const peers = [...groups([frontend]), ...(preservesSource ? ranges(sourceRanges) : [])];
  return [
    ...ports.flatMap(({ protocols, nodePort }) =>
      protocols.flatMap((protocol) => peers.map((peer) => rule(mark, 'INGRESS', peer, protocol, nodePort))),
    ),
    ...groups([frontend]).map((peer) => rule(mark, 'INGRESS', peer, 'TCP', health.port)),
  ];
}

const portText = (options: PortOptions | undefined): string => {
  const range = options?.destinationPortRange;
  return range ? `${range.min}-${range.max}` : '';
};
const keyOf = (one: GroupRule): string =>
  [
    one.direction,
    one.protocol,
    one.source ?? one.destination,
    one.sourceType ?? one.destinationType,
    portText(one.tcpOptions ?? one.udpOptions),
    one.isStateless ?? false,
  ].join(' ');

/** What changes the rules that are there into the wanted ones. Only rules with the mark of the Service are looked at. */
export function ruleChanges(
  there: readonly GroupRule[],
  wanted: readonly GroupRule[],
  mark: string,
): { add: GroupRule[]; remove: string[] } {
  const own = there.filter(({ description }) => description === mark);
  const { missing, surplus } = differenceOf(own, wanted, keyOf, keyOf);
  return { add: missing, remove: surplus.flatMap(({ id }) => (id ? [id] : [])) };
}
