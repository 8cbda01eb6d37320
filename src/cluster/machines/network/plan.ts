// The pod network of a machine, decided: how it reaches the pods of every other one without NAT. Machines on the same link are each other's next hop;
// the others are reached through VXLAN (RFC 7348), whose addresses follow from the nodes' so that nobody has to tell them. Pure.
export interface NetworkNode {
  name: string;
  /** IPv4; '' while it is not known. */
  address: string;
  podCidr: string;
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
  /** Addresses of nodes: pods reach them with their own. */
  nodes: string[];
}

export const tunnelDevice = 'sagong-vxlan';
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

const firstOf = (podCidr: string): string => podCidr.split('/')[0] ?? '';

/** Undefined while the machine's own node has no address, no pods, or no link. */
export function planNetwork(nodes: readonly NetworkNode[], own: string, links: readonly Link[]): NetworkPlan | undefined {
  const self = nodes.find(({ name }) => name === own);
  const link = self && links.find(({ cidr }) => cidr.split('/')[0] === self.address);
  if (!self || !link || self.podCidr === '') return undefined;
  const others = nodes.filter(({ name, address, podCidr }) => name !== own && isAddress(address) && podCidr !== '');
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
  return { routes, tunnel, peers, nodes: nodes.map(({ address }) => address).filter(isAddress) };
}
