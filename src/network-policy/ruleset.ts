// Packet rules as data: what the compiler makes, the text for nft(8) is written from, and tests ask about packets. Pure.
import type { Protocol } from './facts.ts';

/** A condition on a packet; all of a rule's must hold. */
export type Match =
  /** It answers a connection that was let through. */
  | { kind: 'reply' }
  /** ICMP tells one end of a connection what became of its packet. */
  | { kind: 'error' }
  /** Source and destination are one pod. */
  | { kind: 'self'; set: string }
  | { kind: 'ipv6' }
  | { kind: 'address'; field: 'saddr' | 'daddr'; set: string }
  /** No ports: all of the protocol. */
  | { kind: 'ports'; protocol: Protocol; ports?: readonly (readonly [first: number, last: number])[] }
  /** Destination address, protocol and port together. */
  | { kind: 'destination'; set: string };

export type Verdict =
  | { kind: 'accept' }
  | { kind: 'drop' }
  | { kind: 'jump'; chain: string }
  /** What the map says of the address; nothing for one that is not in it. */
  | { kind: 'lookup'; field: 'saddr' | 'daddr'; map: string };

export interface Rule {
  matches: readonly Match[];
  verdict: Verdict;
  /** For who reads the rules in the kernel; made of names that nft can hold. */
  comment?: string;
}

export interface Chain {
  /** It sees forwarded packets, chains of a lower priority first; absent: it is jumped to. */
  priority?: number;
  rules: readonly Rule[];
}

export type SetType = 'address' | 'pair' | 'range' | 'destination' | 'verdict';

/** A set, or a map from addresses to the chain that is jumped to. */
export interface NamedSet {
  type: SetType;
  /** Elements as nft writes them; in a map with the chain, else with ''. A set that changes is another object. */
  elements: ReadonlyMap<string, string>;
}

export interface Ruleset {
  sets: ReadonlyMap<string, NamedSet>;
  chains: ReadonlyMap<string, Chain>;
}

/** Whether nothing is enforced, so that no table is needed. */
export const isEmpty = ({ chains }: Ruleset): boolean => chains.size === 0;
export const noRules: Ruleset = { sets: new Map(), chains: new Map() };
