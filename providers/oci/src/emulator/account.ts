// An account of OCI: instances, a network, load balancers.
import { LaggingMap, Operations, type Refusal } from 'sagong/cloud-provider/test-server';
import type {
  Balancer,
  GroupRule,
  Instance,
  PublicIp,
  SecurityGroup,
  SecurityList,
  Subnet,
  Vnic,
  VnicAttachment,
} from '../api/types.ts';
import { notFound, tokenInvalidated } from './refusals.ts';

export const compartment = 'ocid1.compartment.oc1..cluster';
export const vcn = 'ocid1.vcn.oc1.phx.cluster';
export const region = 'us-phoenix-1';
export const nodeSubnet = 'ocid1.subnet.oc1.phx.nodes';
export const balancerSubnet = 'ocid1.subnet.oc1.phx.balancers';
export const nodeList = 'ocid1.securitylist.oc1.phx.nodes';
export const balancerList = 'ocid1.securitylist.oc1.phx.balancers';

export interface StoredBalancer extends Balancer {
  freeformTags?: Record<string, string>;
  definedTags?: Record<string, Record<string, unknown>>;
  /** The work request that makes it. */
  creation: string;
}
export interface StoredGroup extends SecurityGroup {
  compartmentId: string;
  vcnId: string;
}
export interface StoredGroupRule extends GroupRule {
  id: string;
  group: string;
}
export interface StoredList extends SecurityList {
  compartmentId: string;
  vcnId: string;
}
interface Kinds {
  instance: Instance;
  attachment: VnicAttachment;
  vnic: Vnic;
  subnet: Subnet;
  list: StoredList;
  group: StoredGroup;
  groupRule: StoredGroupRule;
  publicIp: PublicIp;
  balancer: StoredBalancer;
}
type Kind = keyof Kinds;

export interface InstanceOptions {
  subnet?: string;
  shape?: string;
  availabilityDomain?: string;
  faultDomain?: string;
  displayName?: string;
  publicIp?: string;
  ipv6Addresses?: string[];
  compartmentId?: string;
}

export interface AccountOptions {
  lagMs?(): number;
  /** How long a work request takes. Default: it is done at once. */
  durationMs?(): number;
  failureOf?(): Refusal | undefined;
  workRequestId?(number: number): string;
}

export class Account {
  readonly #maps: { [K in Kind]: LaggingMap<Kinds[K]> };
  readonly #now: () => number;
  readonly #tokens = new Map<string, { id: string; answer: string }>();
  readonly operations: Operations;
  #count = 0;

  constructor(now: () => number, options: AccountOptions = {}) {
    const { lagMs = () => 0, durationMs = () => 0, failureOf = () => undefined } = options;
    const { workRequestId = (number) => `ocid1.workrequest.oc1.phx.${number}` } = options;
    this.#now = now;
    const map = <T>(): LaggingMap<T> => new LaggingMap<T>(now, lagMs);
    this.#maps = {
      instance: map(),
      attachment: map(),
      vnic: map(),
      subnet: map(),
      list: map(),
      group: map(),
      groupRule: map(),
      publicIp: map(),
      balancer: map(),
    };
    this.operations = new Operations({ now, durationMs, failureOf, idOf: workRequestId });
  }
  /** Addresses of the load balancer that has this number. */
  publicAddress = (low: string): string => `132.226.${low}`;
  privateAddress = (low: string): string => `10.1.${low}`;
  /** Public network load balancers show their private address, too. */
  showsInside = true;
  /** How many IDs were given. */
  get count(): number {
    return this.#count;
  }
  set count(count: number) {
    this.#count = count;
  }
  id(kind: string): string {
    return `ocid1.${kind}.oc1.phx.${String(++this.#count).padStart(8, '0')}`;
  }
  time(): string {
    return new Date(this.#now()).toISOString();
  }
  /** The truth. */
  of<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#maps[kind].values()];
  }
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    return this.#maps[kind].get(id);
  }
  must<K extends Kind>(kind: K, id: string): Kinds[K] {
    const found = this.get(kind, id);
    if (!found) throw notFound(`${kind} ${id}`);
    return found;
  }
  /** What a question sees. */
  seenOf<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#maps[kind].seenValues()];
  }
  seen<K extends Kind>(kind: K, id: string): Kinds[K] {
    const found = this.#maps[kind].seen(id);
    if (!found) throw notFound(`${kind} ${id}`);
    return found;
  }
  put<K extends Kind>(kind: K, thing: Kinds[K]): Kinds[K] {
    this.#maps[kind].set(thing.id, thing);
    return thing;
  }
  delete(kind: Kind, id: string): void {
    this.#maps[kind].delete(id);
  }
  /** Does it once for each token; the second answer is that of the first time. `exists` of what was made then. */
  once(
    token: string | undefined,
    exists: (id: string) => boolean,
    make: () => { id: string; answer: string },
  ): { id: string; answer: string } {
    const before = token === undefined ? undefined : this.#tokens.get(token);
    if (before && !exists(before.id)) throw tokenInvalidated();
    if (before) return before;
    const made = make();
    if (token !== undefined) this.#tokens.set(token, made);
    return made;
  }
  /** Two subnets with a security list each. */
  addNetwork(): void {
    const common = {
      compartmentId: compartment,
      vcnId: vcn,
      timeCreated: this.time(),
      ingressSecurityRules: [],
      egressSecurityRules: [],
      etag: '1',
    };
    this.put('list', { ...common, id: nodeList });
    this.put('list', { ...common, id: balancerList });
    const subnet = { compartmentId: compartment, vcnId: vcn };
    this.put('subnet', { ...subnet, id: nodeSubnet, cidrBlock: '10.0.10.0/16', securityListIds: [nodeList] });
    this.put('subnet', { ...subnet, id: balancerSubnet, cidrBlock: '10.1.20.0/24', securityListIds: [balancerList] });
  }
  /** Starts an instance with one VNIC. */
  addInstance(name: string, options: InstanceOptions = {}): Instance & { privateIp: string } {
    const number = this.#count + 1;
    const { subnet = nodeSubnet, displayName = name, publicIp, ipv6Addresses, compartmentId = compartment } = options;
    const instance = this.put('instance', {
      id: this.id('instance'),
      compartmentId,
      displayName,
      availabilityDomain: options.availabilityDomain ?? 'Uocm:PHX-AD-1',
      faultDomain: options.faultDomain ?? 'FAULT-DOMAIN-2',
      lifecycleState: 'RUNNING',
      region: 'phx',
      shape: options.shape ?? 'VM.Standard.E4.Flex',
    });
    const privateIp = `10.0.${(number >> 8) & 255}.${number & 255}`;
    const vnic = this.put('vnic', {
      id: this.id('vnic'),
      isPrimary: true,
      hostnameLabel: name,
      privateIp,
      subnetId: subnet,
      ...(publicIp && { publicIp }),
      ...(ipv6Addresses && { ipv6Addresses }),
    });
    this.put('attachment', {
      id: this.id('vnicattachment'),
      instanceId: instance.id,
      lifecycleState: 'ATTACHED',
      vnicId: vnic.id,
    });
    return { ...instance, privateIp };
  }
  instanceNamed(name: string): Instance {
    const found = this.of('instance').findLast(({ displayName }) => displayName === name);
    if (!found) throw new Error(`no instance ${name}`);
    return found;
  }
  setState(name: string, lifecycleState: string): void {
    this.put('instance', { ...this.instanceNamed(name), lifecycleState });
  }
  removeInstance(name: string): void {
    const { id } = this.instanceNamed(name);
    for (const { id: attachment, instanceId, vnicId = '' } of this.of('attachment'))
      if (instanceId === id) {
        this.delete('attachment', attachment);
        this.delete('vnic', vnicId);
      }
    this.delete('instance', id);
  }
  addReservedIp(ipAddress: string): PublicIp {
    return this.put('publicIp', { id: this.id('publicip'), ipAddress, lifecycleState: 'AVAILABLE' });
  }
}
