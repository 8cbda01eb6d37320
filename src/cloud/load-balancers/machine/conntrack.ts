// Which connections the kernel is to forget (conntrack(8)) when targets, listeners or load balancers change: a client that goes on sending from the
// same port would otherwise stay with a target that is gone, or with none. Pure.
import { targetMark, targetMask } from '../names.ts';
import { type BalancerPlan, routedListeners } from '../plan.ts';

/** The parts of a load balancer on which tracked connections depend: when they change, connections are forgotten. */
export interface Flows {
  address: string;
  /** `udp/53`, of listeners whose connections are given targets by rules. */
  listeners: readonly string[];
  /** Marks of the targets that get connections. */
  healthy: readonly number[];
}

export const flowsOf = (balancer: BalancerPlan, healthy: readonly number[]): Flows => ({
  address: balancer.address,
  listeners: routedListeners(balancer).map(({ protocol, port }) => `${protocol}/${port}`),
  healthy,
});

const toAddress = (address: string): string => `--orig-dst ${address}`;

const hasUdp = ({ listeners }: Flows): boolean => listeners.some((one) => one.startsWith('udp/'));
const udpTo = (address: string): string => `-D -p udp ${toAddress(address)}`;

/** Arguments of conntrack for a load balancer that was there before, but it is not known how. */
export const unknownFlows = (flows: Flows): string[] => (hasUdp(flows) ? [udpTo(flows.address)] : []);

function staleUdp(before: Flows, after: Flows): string[] {
  if (!hasUdp(after)) return [];
  const opened = after.listeners.some((one) => one.startsWith('udp/') && !before.listeners.includes(one));
  // Before its first target came, a client's packets were answered by the router, and the kernel remembers that too.
  const began = before.healthy.length === 0 && after.healthy.length > 0;
  if (began || opened) return [udpTo(after.address)];
  const left = before.healthy.filter((index) => !after.healthy.includes(index));
  return left.map((index) => `${udpTo(after.address)} --mark ${targetMark(index)}/${targetMask}`);
}

/**
 * Arguments of conntrack. UDP moves on when a target is not healthy any more; TCP connections live on, as a target that is being drained
 * still serves them. Both are forgotten with their listener.
 */
export function staleFlows(before: Flows | undefined, after: Flows | undefined): string[] {
  if (!before) return [];
  if (!after || before.address !== after.address) return before.listeners.length > 0 ? [`-D ${toAddress(before.address)}`] : [];
  const closed = before.listeners.filter((one) => !after.listeners.includes(one));
  return [
    ...closed.map((one) => {
      const [protocol, port] = one.split('/');
      return `-D -p ${protocol} ${toAddress(after.address)} --orig-port-dst ${port}`;
    }),
    ...staleUdp(before, after),
  ];
}

/** Connections of a link that is gone: nothing will answer them. */
export const flowsOfIndex = (index: number): string => `-D --mark ${targetMark(index)}/${targetMask}`;
