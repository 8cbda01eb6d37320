// The state of the account behind the server: its things by kind and ID, and what happens to them outside of Kubernetes.
import { LaggingMap, type VendorRequest } from 'sagong/cloud-provider/test-server';
import type { BalancerConfig, BalancerNode, Firewall, Linode, NodeBalancer, Subnet, Vpc } from '../api/types.ts';
import { notFound } from './refusals.ts';

export interface StoredInterface {
  id: number;
  linode: number;
  /** Undefined: an interface of the Linode itself. */
  profile: number | null;
  vpc: number;
  subnet: number;
  address: string;
  ranges: string[];
  ipv6Ranges: string[];
  slaac: string[];
}
export interface StoredSubnet extends Subnet {
  vpc: number;
  ipv4: string;
  ipv6: { range: string }[];
}
export interface StoredBalancer extends NodeBalancer {
  vpcs: { subnet_id: number; ipv4_range: string; purpose: 'backend' | 'frontend' }[];
}
export interface StoredNode extends BalancerNode {
  config_id: number;
  nodebalancer_id: number;
  mode: string;
  status: string;
}
export interface StoredConfig extends BalancerConfig {
  cipher_suite: string;
}
export interface StoredDevice {
  id: number;
  firewall: number;
  balancer: number;
}
export interface StoredAddress {
  id: number;
  address: string;
  region: string;
  reserved: boolean;
}

interface Kinds {
  linode: Linode;
  interface: StoredInterface;
  vpc: Vpc;
  subnet: StoredSubnet;
  balancer: StoredBalancer;
  config: StoredConfig;
  node: StoredNode;
  firewall: Firewall & { status: string };
  device: StoredDevice;
  address: StoredAddress;
}
export type Kind = keyof Kinds;

export interface LinodeOptions {
  type?: string;
  region?: string;
  status?: string;
  /** In this subnet; with interfaces of the Linode itself in the place of those of a configuration profile. */
  subnet?: number;
  generation?: 'legacy_config' | 'linode';
  privateIp?: boolean;
  tags?: string[];
}

export class Account {
  token = '';
  /** The next free address for a NodeBalancer. */
  publicAddress = (): string => this.newAddress('172.234');
  privateAddress = (): string => this.newAddress('10.254');
  publicIpv6 = (id: number): string | null => `2600:3c06:1::${id.toString(16)}`;
  readonly #maps = new Map<Kind, LaggingMap<unknown>>();
  readonly #now: () => number;
  readonly #lagMs: () => number;
  #count = 0;

  constructor(now: () => number, lagMs: () => number) {
    this.#now = now;
    this.#lagMs = lagMs;
  }
  /** How many IDs and addresses were given. */
  get count(): number {
    return this.#count;
  }
  set count(count: number) {
    this.#count = count;
  }
  id(): number {
    return 1_000 + ++this.#count;
  }
  timestamp(): string {
    return new Date(this.#now()).toISOString().slice(0, 19);
  }
  #map<K extends Kind>(kind: K): LaggingMap<Kinds[K]> {
    const known = this.#maps.get(kind) ?? new LaggingMap<unknown>(this.#now, this.#lagMs);
    this.#maps.set(kind, known);
    return known as LaggingMap<Kinds[K]>;
  }
  put<K extends Kind>(kind: K, thing: Kinds[K]): Kinds[K] {
    this.#map(kind).set(String(thing.id), thing);
    return thing;
  }
  get<K extends Kind>(kind: K, id: number): Kinds[K] | undefined {
    return this.#map(kind).get(String(id));
  }
  /** As a change sees it. */
  must<K extends Kind>(kind: K, id: number): Kinds[K] {
    const found = this.get(kind, id);
    if (!found) throw notFound();
    return found;
  }
  /** As a question sees it, a while later. */
  seen<K extends Kind>(kind: K, id: number): Kinds[K] {
    const found = this.#map(kind).seen(String(id));
    if (!found) throw notFound();
    return found;
  }
  of<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#map(kind).values()];
  }
  seenOf<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#map(kind).seenValues()];
  }
  delete(kind: Kind, id: number): void {
    this.#map(kind).delete(String(id));
  }

  // What happens outside Kubernetes

  /** An address that nobody has: 16 bits of it are the number. */
  newAddress(network: string): string {
    const number = ++this.#count;
    return `${network}.${(number >> 8) & 255}.${number & 255}`;
  }
  addVpc(label: string, region: string): Vpc {
    return this.put('vpc', { id: this.id(), label, region });
  }
  addSubnet(vpc: number, label: string, ipv4: string, ipv6?: string): StoredSubnet {
    return this.put('subnet', { id: this.id(), vpc, label, ipv4, ipv6: ipv6 === undefined ? [] : [{ range: ipv6 }] });
  }
  addLinode(label: string, region: string, options: LinodeOptions = {}): Linode {
    const {
      type = 'g6-standard-2',
      status = 'running',
      privateIp = true,
      subnet,
      generation = 'legacy_config',
      tags = [],
    } = options;
    const id = this.id();
    const made = this.put('linode', {
      id,
      label,
      region: options.region ?? region,
      type,
      status,
      ipv4: [
        this.newAddress('172.232'),
        ...(privateIp
          ? [this.newAddress('192.168').replace(/^192\.168\.(\d+)/, (_, part) => `192.168.${128 + (Number(part) % 128)}`)]
          : []),
      ],
      ipv6: `2600:3c06::f03c:95ff:fe${(id >> 8).toString(16).padStart(2, '0')}:${(id & 0xffff).toString(16)}/128`,
      host_uuid: `host-of-${label}`,
      tags,
      interface_generation: generation,
    });
    if (subnet !== undefined) this.addInterface(id, subnet, generation === 'linode' ? null : this.id());
    return made;
  }
  addInterface(linode: number, subnet: number, profile: number | null): StoredInterface {
    const { vpc, ipv4, ipv6 } = this.must('subnet', subnet);
    const id = this.id();
    const [network = ''] = /^\d+\.\d+/.exec(ipv4) ?? [];
    const slaac = ipv6.map(({ range }) => `${range.split('/')[0]?.replace(/::$/, '')}:0:0:0:${id.toString(16)}`);
    return this.put('interface', {
      id,
      linode,
      profile,
      vpc,
      subnet,
      address: this.newAddress(network),
      ranges: [],
      ipv6Ranges: [],
      slaac,
    });
  }
  reserveAddress(region: string): StoredAddress {
    return this.put('address', { id: this.id(), address: this.newAddress('172.233'), region, reserved: true });
  }
  linodeNamed(label: string): Linode | undefined {
    return this.of('linode').find((linode) => linode.label === label);
  }
  setStatus(label: string, status: string): void {
    const linode = this.linodeNamed(label);
    if (linode) this.put('linode', { ...linode, status });
  }
  /** Deletes it with its interfaces. NodeBalancers keep its address, and find it down. */
  removeLinode(label: string): void {
    const linode = this.linodeNamed(label);
    if (!linode) return;
    for (const one of this.of('interface')) if (one.linode === linode.id) this.delete('interface', one.id);
    this.delete('linode', linode.id);
  }
}

export const idIn = ({ params }: VendorRequest, name = 'id'): number => {
  const id = Number(params[name]);
  if (!Number.isSafeInteger(id)) throw notFound();
  return id;
};
export const bodyOf = ({ body }: VendorRequest): Record<string, unknown> => (body ?? {}) as Record<string, unknown>;
