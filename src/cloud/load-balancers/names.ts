// Names and numbers by which the load balancers' pieces in routers and edge are known, so that a later process finds what a crashed one left
// behind, and no other driver takes them for its own. Pure.
import { loadBalancerMark } from '../model/index.ts';

/** Routes and rules of load balancers carry it (ip-route(8), `proto`). */
export const protocol = 78;
/** Label of load balancers' addresses on a router's loopback device. */
export const addressLabel = 'lo:lb';

/**
 * Order of the router's rules. The kernel's table of local addresses normally comes before all others; here marked packets come first, so
 * that an address of a load balancer can be local (unclaimed packets are answered by the kernel: reset or port unreachable) while
 * packets that a target was chosen for go on to it.
 */
export const preference = { forward: 10, answer: 11, local: 20 };

const tableBase = loadBalancerMark << 16;
/** Routing table with the one route to an interface; index 0: to the edge. */
export const tableOf = (index: number): number => tableBase + index;
export const indexOfTable = (table: number): number | undefined =>
  table >= tableBase && table <= tableBase + 0x7fff ? table - tableBase : undefined;

const hex = (value: number): string => `0x${(value >>> 0).toString(16)}`;
/** Matches all connections that were given a target; the machine's security groups use the same. */
export const anyTarget = `${hex(loadBalancerMark)}/0xffff`;
/** The bit in the mark of a connection that came from the edge. Its answers go back there, whatever the route tables say. */
export const fromEdgeBit = '0x80000000';
export const fromEdge = `${hex(0x80000000 + loadBalancerMark)}/0x8000ffff`;
export const backToEdge = hex(0x80000000 + loadBalancerMark);
/** The mask of all bits of a packet's mark but the highest. */
export const targetMask = '0x7fffffff';
/** Mark of packets to a target, and of their connection. */
export const targetMark = (index: number): string => hex(index * 0x10000 + loadBalancerMark);
/** Mark of packets to the router itself; answers inherit it and so leave the way the question came. Index 0: the edge. */
export const answerMark = (index: number): string => hex(index * 0x10000 + loadBalancerMark + 1);
/** Mark of packets that go back to where they came from. */
export const hairpinMark = hex(loadBalancerMark + 2);

const chainPrefix = 'SGLB';
export const isOwnChain = (name: string): boolean => name === chainPrefix || name.startsWith(`${chainPrefix}-`);
/** Names of chains have at most 28 characters. */
const short = (id: string): string => id.slice(id.indexOf('-') + 1).slice(-16);
export const chains = {
  /** PREROUTING of mangle and nat jumps here. */
  main: chainPrefix,
  /** FORWARD of mangle jumps here. */
  forward: `${chainPrefix}-FWD`,
  /** POSTROUTING of nat jumps here. */
  source: `${chainPrefix}-SRC`,
  /** Marks packets to the router itself by where they came from. */
  arrival: `${chainPrefix}-ARR`,
  /** The chain that says who may use a load balancer. */
  balancer: (id: string): string => `${chainPrefix}-${short(id)}`,
  /** The listeners of a load balancer, for clients that may use it. */
  listeners: (id: string): string => `${chainPrefix}-${short(id)}-L`,
  /** Picks a target for a connection. */
  pick: (id: string): string => `${chainPrefix}-${short(id)}-P`,
  /** Picks a target and remembers it for the client, for session affinity. */
  stick: (id: string, index: number): string => `${chainPrefix}-${short(id)}-${index.toString(16)}`,
  /** Writes a target on the connection. */
  target: (index: number): string => `${chainPrefix}-T${index}`,
};
/** The name of the list (xt_recent) of clients that stay with a target. */
export const affinityList = (id: string, index: number): string => `sglb-${short(id)}-${index}`;
