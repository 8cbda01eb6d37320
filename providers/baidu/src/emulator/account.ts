// The state of the account behind the server: its things by kind and ID, and what happens to them outside of Kubernetes.
import { type Faults, LaggingMap, noRates, Operations, type VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Backend, Balancer, Eip, Instance, Listener, RouteRule, SecurityGroup, Subnet } from '../api/types.ts';
import { inUse, invalid, noSuch, tokenMismatch } from './refusals.ts';

export interface StoredBalancer extends Balancer {
  subnetId: string;
  allowDelete: boolean;
  groups: string[];
}
export interface StoredListener extends Listener {
  id: string;
  blbId: string;
  kind: string;
}
export interface StoredBackend extends Backend {
  id: string;
  blbId: string;
}

interface Kinds {
  balancer: StoredBalancer;
  listener: StoredListener;
  backend: StoredBackend;
  eip: Eip;
  rule: RouteRule;
  subnet: Subnet;
  instance: Instance;
  group: SecurityGroup;
}
export type Kind = keyof Kinds;

const keyOf: { readonly [K in Kind]: (thing: Kinds[K]) => string } = {
  balancer: ({ blbId }) => blbId,
  listener: ({ id }) => id,
  backend: ({ id }) => id,
  eip: ({ eip }) => eip,
  rule: ({ routeRuleId }) => routeRuleId,
  subnet: ({ subnetId }) => subnetId,
  instance: ({ id }) => id,
  group: ({ id }) => id,
};

export interface InstanceOptions {
  vpcId?: string;
  subnetId?: string;
  hostname?: string;
  status?: string;
  gpuCard?: string;
  publicIp?: string;
  ipv6?: string;
}

export const region = 'bj';
export const vpc = 'vpc-k8s';
export const nodeSubnet = 'sbn-nodes';
/** A token for idempotence counts for a day after its last use. */
const tokenMs = 86_400_000;

export class Account {
  readonly operations: Operations;
  readonly faults: () => Pick<Faults, 'rates' | 'happens'>;
  readonly now: () => number;
  readonly #maps = new Map<Kind, LaggingMap<unknown>>();
  readonly #answers = new Map<string, { request: string; body: unknown; untilMs: number }>();
  #count = 0;

  constructor(now: () => number, faults: Account['faults'] = () => ({ rates: noRates, happens: () => false })) {
    this.now = now;
    this.faults = faults;
    this.operations = new Operations({ now, durationMs: () => faults().rates.operationMs, idOf: (number) => `op-${number}` });
  }
  /** The subnet that everything is in. */
  addSubnet(zoneName: string, vpcId: string): void {
    this.put('subnet', { subnetId: nodeSubnet, name: 'nodes', zoneName, vpcId, subnetType: 'BCC' });
  }
  /** A token for idempotence gives the same answer also when what was made is gone. Not where the next one may have its ID, as EIPs here. */
  tokensOutlive = true;
  /** How many IDs and addresses were given. */
  get count(): number {
    return this.#count;
  }
  set count(count: number) {
    this.#count = count;
  }
  id(prefix: string): string {
    return `${prefix}-${(1_000 + ++this.#count).toString(36).padStart(8, '0')}`;
  }
  /** An address that nobody has. */
  newAddress(network: string): string {
    const number = ++this.#count;
    return `${network}.${(number >> 8) & 255}.${number & 255}`;
  }
  /** The next free address for an EIP. */
  publicAddress = (): string => this.newAddress('106.13');
  /** The next free address for a load balancer. */
  privateAddress = (): string => this.newAddress('192.168');
  #map<K extends Kind>(kind: K): LaggingMap<Kinds[K]> {
    const known = this.#maps.get(kind) ?? new LaggingMap<unknown>(this.now, () => this.faults().rates.lagMs);
    this.#maps.set(kind, known);
    return known as LaggingMap<Kinds[K]>;
  }
  put<K extends Kind>(kind: K, thing: Kinds[K]): Kinds[K] {
    this.#map(kind).set(keyOf[kind](thing), thing);
    return thing;
  }
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    return this.#map(kind).get(id);
  }
  /** As a change sees it. */
  must<K extends Kind>(kind: K, id: string): Kinds[K] {
    const found = this.get(kind, id);
    if (!found) throw noSuch(kind, id);
    return found;
  }
  /** As a question sees it, a while later. */
  seen<K extends Kind>(kind: K, id: string): Kinds[K] {
    const found = this.#map(kind).seen(id);
    if (!found) throw noSuch(kind, id);
    return found;
  }
  of<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#map(kind).values()];
  }
  seenOf<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#map(kind).seenValues()];
  }
  delete(kind: Kind, id: string): void {
    this.#map(kind).delete(id);
    if (this.tokensOutlive) return;
    for (const [token, { body }] of this.#answers) if (JSON.stringify(body).includes(`"${id}"`)) this.#answers.delete(token);
  }
  /** Does the work once for each token: a request that comes again under its token has the answer of the first. */
  once(request: VendorRequest, work: () => unknown): unknown {
    const token = request.url.searchParams.get('clientToken');
    if (!token) return work();
    if (token.length > 64) throw invalid('clientToken');
    const said = `${request.method} ${request.url.pathname} ${request.bytes.toString()}`;
    const known = this.#answers.get(token);
    const untilMs = this.now() + tokenMs;
    if (known && known.untilMs > this.now()) {
      known.untilMs = untilMs;
      if (known.request !== said) throw tokenMismatch();
      return known.body;
    }
    const body = work();
    this.#answers.set(token, { request: said, body, untilMs });
    return body;
  }

  // What happens outside Kubernetes

  addInstance(name: string, options: InstanceOptions = {}): Instance {
    const { vpcId = vpc, subnetId = 'sbn-nodes', status = 'Running', ...more } = options;
    const id = this.id('i');
    const internalIp = this.newAddress('192.168');
    return this.put('instance', { id, name, hostname: name, status, internalIp, zoneName: 'cn-bj-a', vpcId, subnetId, ...more });
  }
  instanceNamed(name: string): Instance | undefined {
    return this.of('instance').find((one) => one.name === name);
  }
  setStatus(name: string, status: string): void {
    const instance = this.instanceNamed(name);
    if (instance) this.put('instance', { ...instance, status });
  }
  /** Releases it. Load balancers lose it; rules that lead to it stay. */
  removeInstance(name: string): void {
    const instance = this.instanceNamed(name);
    if (!instance) return;
    for (const one of this.of('backend')) if (one.instanceId === instance.id) this.delete('backend', one.id);
    this.delete('instance', instance.id);
  }
  /** Bought by a user. */
  addEip(name: string, more: Partial<Eip> = {}): Eip {
    const eip = this.publicAddress();
    return this.put('eip', {
      name,
      eip,
      status: 'available',
      bandwidthInMbps: 10,
      paymentTiming: 'Postpaid',
      billingMethod: 'ByTraffic',
      ...more,
    });
  }
  addBalancer(name: string, more: Partial<StoredBalancer> = {}): StoredBalancer {
    const address = more.address ?? this.privateAddress();
    const own = { desc: '', status: 'available' as const, vpcId: vpc, subnetId: 'sbn-nodes', tags: [], groups: [] };
    return this.put('balancer', { blbId: this.id('lb'), name, address, allowDelete: true, ...own, ...more });
  }
  /** The EIP that is bound to a load balancer. */
  eipOf(blbId: string): Eip | undefined {
    return this.of('eip').find(({ instanceId }) => instanceId === blbId);
  }
  /** Throws while it is being made or changed. */
  free(kind: 'balancer' | 'eip', id: string): void {
    if (this.operations.busyWith(`${kind} ${id}`)) throw inUse(kind, id);
  }
}

export const bodyOf = <T = Record<string, unknown>>({ body }: VendorRequest): T => (body ?? {}) as T;
