// What one account holds, and the hands of its owner: what somebody does in the control panel, past the API.
import { randomUUID } from 'node:crypto';
import { Refusal } from './refusal.ts';

export interface Network {
  ip_address: string;
  netmask: string | number;
  gateway: string;
  type: 'public' | 'private';
}
export interface Region {
  name: string;
  slug: string;
  features: string[];
  available: boolean;
  sizes: string[];
}
export interface Droplet {
  id: number;
  name: string;
  memory: number;
  vcpus: number;
  disk: number;
  locked: boolean;
  status: 'new' | 'active' | 'off' | 'archive';
  created_at: string;
  features: string[];
  size_slug: string;
  networks: { v4: Network[]; v6: Network[] };
  region: Region;
  tags: string[];
  vpc_uuid: string;
}
export interface Certificate {
  id: string;
  name: string;
  not_after: string;
  sha1_fingerprint: string;
  created_at: string;
  dns_names: string[];
  state: 'pending' | 'verified' | 'error';
  type: 'custom' | 'lets_encrypt';
}
/** A load balancer as it is answered. */
export interface LoadBalancer {
  id: string;
  name: string;
  status: 'new' | 'active' | 'errored';
  created_at: string;
  ip: string;
  region: Region;
  droplet_ids: number[];
  tags: string[];
  [field: string]: unknown;
}
export interface Firewall {
  id: string;
  name: string;
  status: 'waiting' | 'succeeded' | 'failed';
  created_at: string;
  inbound_rules: unknown[];
  outbound_rules: unknown[];
  droplet_ids: number[];
  tags: string[];
  pending_changes: unknown[];
}

const sizes = ['s-1vcpu-1gb', 's-2vcpu-4gb', 's-4vcpu-8gb'];
export const regionOf = (slug: string, name: string): Region => ({
  name,
  slug,
  features: ['private_networking', 'backups', 'ipv6', 'metadata', 'install_agent', 'storage', 'image_transfer'],
  available: true,
  sizes,
});

export interface DropletOptions {
  region?: string;
  size?: string;
  privateIp?: string | null;
  publicIp?: string | null;
  publicIpv6?: string;
}

export class Account {
  readonly now: () => number;
  regions: Region[] = [
    regionOf('nyc3', 'New York 3'),
    regionOf('fra1', 'Frankfurt 1'),
    regionOf('sfo3', 'San Francisco 3'),
    regionOf('ams3', 'Amsterdam 3'),
  ];
  readonly droplets = new Map<number, Droplet>();
  readonly certificates = new Map<string, Certificate>();
  readonly loadBalancers = new Map<string, LoadBalancer>();
  readonly firewalls = new Map<string, Firewall>();
  /** Addresses that load balancers were asked to have, by ID. */
  readonly ownAddresses = new Map<string, string>();
  /** The network that things are in unless they name another one. */
  vpc = '760e09ef-dc84-11e8-981e-3cfdfeaae000';
  /** Tagged resources by tag, as `type/id`. */
  readonly tags = new Map<string, Set<string>>();
  /** How long a load balancer stays `new`. Infinity: until somebody else says that it is there. */
  activationMs = 0;
  /** What the metadata service says to a droplet that asks where it is; undefined: the machine is no droplet. */
  ownRegion?: string;
  #numbers = 0;

  constructor(now: () => number) {
    this.now = now;
  }
  timestamp(): string {
    return new Date(this.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }
  number(): number {
    this.#numbers += 1;
    return this.#numbers;
  }
  region(slug: unknown): Region | undefined {
    return this.regions.find((region) => region.slug === slug);
  }
  /** Starts a droplet. */
  addDroplet(name: string, options: DropletOptions = {}): Droplet {
    const number = this.number();
    const part = `${(number >> 8) & 255}.${number & 255}`;
    const {
      region = 'nyc3',
      size = 's-2vcpu-4gb',
      privateIp = `10.128.${part}`,
      publicIp = `192.0.${part}`,
      publicIpv6,
    } = options;
    const found = this.region(region);
    if (!found) throw new Error(`no region ${region}`);
    const network = (ip: string, type: Network['type']): Network => ({
      ip_address: ip,
      netmask: '255.255.0.0',
      gateway: '192.0.0.1',
      type,
    });
    const droplet: Droplet = {
      id: 3_164_000 + number,
      name,
      memory: 4096,
      vcpus: 2,
      disk: 80,
      locked: false,
      status: 'active',
      created_at: this.timestamp(),
      features: ['private_networking', 'ipv6'],
      size_slug: size,
      networks: {
        v4: [...(privateIp ? [network(privateIp, 'private')] : []), ...(publicIp ? [network(publicIp, 'public')] : [])],
        v6: publicIpv6 ? [{ ip_address: publicIpv6, netmask: 64, gateway: '2604:a880:0:1010::1', type: 'public' }] : [],
      },
      region: found,
      tags: [],
      vpc_uuid: this.vpc,
    };
    this.droplets.set(droplet.id, droplet);
    return droplet;
  }
  dropletNamed(name: string): Droplet {
    for (const droplet of this.droplets.values()) if (droplet.name === name) return droplet;
    throw new Error(`no droplet ${name}`);
  }
  /** Destroys a droplet, which leaves its load balancers. False: there is none. */
  removeDroplet(id: number): boolean {
    if (!this.droplets.delete(id)) return false;
    for (const balancer of this.loadBalancers.values())
      balancer.droplet_ids = balancer.droplet_ids.filter((droplet) => droplet !== id);
    return true;
  }
  addCertificate(name: string, type: Certificate['type'] = 'custom'): Certificate {
    const certificate: Certificate = {
      id: randomUUID(),
      name,
      not_after: '2030-01-01T00:00:00Z',
      sha1_fingerprint: 'dfcc9f57d86bf58e321c2c6c31c7a971be244ac7',
      created_at: this.timestamp(),
      dns_names: ['www.example.com'],
      state: 'verified',
      type,
    };
    this.certificates.set(certificate.id, certificate);
    return certificate;
  }
  loadBalancerNamed(name: string): LoadBalancer {
    for (const balancer of this.loadBalancers.values()) if (balancer.name === name) return balancer;
    throw new Error(`no load balancer ${name}`);
  }
  tag(name: string, resource: string): void {
    if (!/^[a-zA-Z0-9_\-:]{1,255}$/.test(name)) throw new Refusal(422, `invalid tag name: ${name}`);
    this.tags.set(name, (this.tags.get(name) ?? new Set()).add(resource));
  }
}
