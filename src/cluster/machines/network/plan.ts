// The pod network of a machine, decided: how it reaches the pods of every other one without NAT. Machines on the same link are each other's next hop;
// the others are reached through VXLAN (RFC 7348), whose addresses follow from the nodes' so that nobody has to tell them. Pure.
export interface NetworkNode {
  name: string;
  /** IPv4; '' while it is not known. */
  address: string;
  podCidr: string;
  /** Milliseconds since 1970. */
  createdMs: number;
}

/** An IPv4 address of this machine. */
export interface Link {
  device: string;
  /** `10.0.0.1/24`. */
  cidr: string;
  mtu: number;
}

export interface Route {
  podCidr: string;
  via: string;
  device: string;
  /** The next hop is no neighbour by the routing table. */
  onLink: boolean;
}

export interface Tunnel {
  local: string;
  device: string;
  mac: string;
  /** The first address of the own block, which no pod has. */
  address: string;
  mtu: number;
}

export interface TunnelPeer {
  address: string;
  mac: string;
  /** Where the peer's packets go on the outside. */
  remote: string;
}

export interface NetworkPlan {
  routes: Route[];
  /** Undefined: every machine is on the same link. */
  tunnel: Tunnel | undefined;
  peers: TunnelPeer[];
  /** Addresses from which packets may come through the tunnel: a peer may take another way than this machine does. */
  senders: string[];
  /** Addresses of nodes: pods reach them with their own. */
  nodes: string[];
  /** Names of nodes to which nothing leads, because what their Nodes say cannot be so. */
  leftOut: string[];
}

export const tunnelDevice = 'sagong-vxlan';
/** The UDP port of the tunnels between machines, which flannel has, too. */
export const tunnelPort = 8472;
/** Outer Ethernet, IPv4, UDP and VXLAN heads. */
const vxlanOverheadBytes = 50;

const number = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const isAddress = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((part) => Number(part) < 256);

export function contains(cidr: string, address: string): boolean {
  const [base = '', length = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(length));
  return isAddress(base) && isAddress(address) && Math.floor(number(base) / size) === Math.floor(number(address) / size);
}

/** Locally administered, and another one for each address. */
const macOf = (address: string): string =>
  ['02', '53', ...address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))].join(':');

/** First address and first after it; undefined for what is no block of IPv4 addresses. */
function blockOf(cidr: string): [number, number] | undefined {
  const [base = '', length = ''] = cidr.split('/');
  if (!isAddress(base) || !/^\d{1,2}$/.test(length) || Number(length) > 32) return undefined;
  const size = 2 ** (32 - Number(length));
  const from = Math.floor(number(base) / size) * size;
  return [from, from + size];
}

/**
 * A node says itself where it is and which block it has, so what it says is not believed where it would take somebody else's packets: a block is
 * a part of the pods' and of no node that was there before, and an address is not this machine's own.
 */
function believed(nodes: readonly NetworkNode[], self: NetworkNode, podCidr: string): ReadonlySet<NetworkNode> {
  const all = blockOf(podCidr);
  const taken: [number, number][] = [];
  const kept = new Set<NetworkNode>();
  const byAge = [...nodes].sort((a, b) => a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1));
  for (const node of [self, ...byAge.filter((one) => one !== self)]) {
    const block = blockOf(node.podCidr);
    const isOwn = node === self;
    if (!all || !block || (!isOwn && node.address === self.address)) continue;
    const [from, to] = block;
    if (!isOwn && (from < all[0] || to > all[1] || to - from >= all[1] - all[0])) continue;
    if (taken.some(([first, end]) => from < end && first < to)) continue;
    taken.push(block);
    kept.add(node);
  }
  return kept;
}

const firstOf = (podCidr: string): string => podCidr.split('/')[0] ?? '';

/**
 * Plans the routes and tunnels of a machine; undefined while its own node has no address, no pods, or no link. `clusterCidr` is the range
 * of all pods.
 */
export function planNetwork(
  nodes: readonly NetworkNode[],
  own: string,
  links: readonly Link[],
  clusterCidr: string,
): NetworkPlan | undefined {
  const self = nodes.find(({ name }) => name === own);
  const link = self && links.find(({ cidr }) => cidr.split('/')[0] === self.address);
  if (!self || !link || self.podCidr === '') return undefined;
  const kept = believed(nodes, self, clusterCidr);
  const candidates = nodes.filter(({ name, address, podCidr }) => name !== own && isAddress(address) && podCidr !== '');
  const others = candidates.filter((node) => kept.has(node));
  const leftOut = candidates.filter((node) => !kept.has(node)).map(({ name }) => name);
  const neighbours = new Map(
    others.map(({ name, address }) => [name, links.find(({ cidr }) => !cidr.endsWith('/32') && contains(cidr, address))]),
  );
  const far = others.filter(({ name }) => !neighbours.get(name));
  const tunnel: Tunnel | undefined =
    far.length === 0
      ? undefined
      : {
          local: self.address,
          device: link.device,
          mac: macOf(self.address),
          address: firstOf(self.podCidr),
          mtu: link.mtu - vxlanOverheadBytes,
        };
  const routes = others.map(({ name, address, podCidr }): Route => {
    const neighbour = neighbours.get(name);
    if (neighbour) return { podCidr, via: address, device: neighbour.device, onLink: false };
    return { podCidr, via: firstOf(podCidr), device: tunnelDevice, onLink: true };
  });
  const peers = far.map(({ address, podCidr }) => ({ address: firstOf(podCidr), mac: macOf(address), remote: address }));
  const senders = others.map(({ address }) => address);
  return {
    routes,
    tunnel,
    peers,
    senders: tunnel ? senders : [],
    nodes: nodes.map(({ address }) => address).filter(isAddress),
    leftOut,
  };
}
