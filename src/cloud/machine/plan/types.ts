// What a network namespace of the cloud is to contain, in the words of iproute2 and iptables, so that what is wanted, what was applied and what
// is found on the machine compare as text.

/** The other end of a veth pair. */
export interface Peer {
  netns: string;
  link: string;
}

/** The iptables rules of one table: its own chains, and the rules of built-in chains that lead to them. */
export interface Rules {
  /** `FORWARD -j VPC-FORWARD`. */
  hooks: readonly string[];
  /** Rules by chain, without `-A <chain>`. */
  chains: ReadonlyMap<string, readonly string[]>;
}
export type Table = 'filter' | 'nat';

export interface NamespacePlan {
  /** Namespaces make links into those of a higher number only, and are set up in this order. */
  order: 0 | 1 | 2;
  /** Veth pairs made from this namespace, by the link's name here. */
  links: ReadonlyMap<string, Peer>;
  /** `<link> <address>/<length>`. */
  addresses: ReadonlySet<string>;
  /** Values by path below /proc/sys/net. Those of links are set when the link is made. */
  sysctls: ReadonlyMap<string, string>;
  /** Routes by `<table> <destination>`; the value is what follows `ip route replace`. */
  routes: ReadonlyMap<string, string>;
  /** What follows `ip rule add`. */
  rules: ReadonlySet<string>;
  tables: ReadonlyMap<Table, Rules>;
}

/** What each network namespace of the machine is to have, by its name. */
export type MachinePlan = ReadonlyMap<string, NamespacePlan>;

/** What a namespace contains of ours. Chains that were found rather than made have no known rules. */
export interface NamespaceState {
  links: ReadonlyMap<string, Peer | undefined>;
  /** Addresses are ours when on our links or labelled. */
  addresses: ReadonlySet<string>;
  sysctls: ReadonlyMap<string, string>;
  routes: ReadonlyMap<string, string>;
  rules: ReadonlySet<string>;
  tables: ReadonlyMap<Table, { hooks: readonly string[]; chains: ReadonlyMap<string, readonly string[] | undefined> }>;
}

export const emptyState: NamespaceState = {
  links: new Map(),
  addresses: new Set(),
  sysctls: new Map(),
  routes: new Map(),
  rules: new Set(),
  tables: new Map(),
};

/** Chains of this driver begin so; other drivers' do not. */
export const chainPrefix = 'VPC-';
/** Marks this driver's addresses on a loopback device, where others have theirs. */
export const loopbackLabel = 'lo:vpc';
/** The number of the kernel's main routing table. */
export const mainTable = 254;
