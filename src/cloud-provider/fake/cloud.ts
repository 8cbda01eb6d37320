// A cloud in memory: instances, load balancers made of three pieces each, routes. Deterministic; faults on request. Outlives the providers that
// speak to it, as a cloud outlives the manager.
import type { NodeAddress } from '#api/core/v1';
import { type Clock, type Rng, seededRng } from '#utils';
import type { Route } from '../types.ts';
import { FaultGate } from './faults.ts';

export interface FakeInstance {
  id: string;
  /** Equals the Node's name. */
  name: string;
  type: string;
  zone: string;
  region: string;
  addresses: NodeAddress[];
  state: 'running' | 'stopped';
  labels: Record<string, string>;
  createdMs: number;
}

export interface FakeBalancer {
  id: string;
  /** What it is found by. */
  name: string;
  cluster: string;
  /** Namespace and name of the Service. */
  service: string;
  serviceUid: string;
  /** Piece one, reserved first and released last. */
  address?: string;
  /** The second resource of a load balancer: the firewall that says which clients are let in. */
  sourceRanges?: string[];
  /** Piece three: `protocol:port:nodePort` each. */
  listeners?: string[];
  /** Session affinity of the listeners. */
  affinity?: string;
  /** Port asked for local endpoints; 0: none is. */
  healthCheckNodePort?: number;
  /** Node names, sorted. */
  backends: string[];
}

export interface FakeRoute extends Route {
  cluster: string;
  createdMs: number;
}

export interface FakeCloudOptions {
  clock: Clock;
  rng?: Rng;
  zones?: readonly string[];
  region?: string;
  /** Making a load balancer under a name that is taken gives the one that is there; false: it makes another, as many clouds do. Default true. */
  uniqueNames?: boolean;
}

export class FakeCloud {
  readonly clock: Clock;
  readonly gate: FaultGate;
  readonly instances = new Map<string, FakeInstance>();
  /** The load balancers by id. */
  readonly balancers = new Map<string, FakeBalancer>();
  readonly routes = new Map<string, FakeRoute>();
  readonly zones: readonly string[];
  readonly region: string;
  readonly #uniqueNames: boolean;
  #counter = 0;

  constructor(options: FakeCloudOptions) {
    const { clock, rng = seededRng(1), region = 'fake-1', zones = [`${region}a`, `${region}b`], uniqueNames = true } = options;
    this.clock = clock;
    this.gate = new FaultGate(clock, rng);
    this.zones = zones;
    this.region = region;
    this.#uniqueNames = uniqueNames;
  }
  /** Starts an instance for the Node of this name, as somebody outside Kubernetes would. */
  addInstance(name: string, more: Partial<Omit<FakeInstance, 'name'>> = {}): FakeInstance {
    const number = ++this.#counter;
    const instance: FakeInstance = {
      id: `i-${String(number).padStart(6, '0')}`,
      name,
      type: 'fake.small',
      zone: this.zones[number % this.zones.length] ?? '',
      region: this.region,
      addresses: [
        { type: 'InternalIP', address: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` },
        { type: 'Hostname', address: name },
      ],
      state: 'running',
      labels: {},
      createdMs: this.clock.now(),
      ...more,
    };
    this.instances.set(instance.id, instance);
    return instance;
  }
  instanceOf(name: string): FakeInstance | undefined {
    for (const instance of this.instances.values()) if (instance.name === name) return instance;
    return undefined;
  }
  /** Terminates it: nothing is left of it, and its routes lead nowhere. */
  removeInstance(name: string): void {
    const instance = this.instanceOf(name);
    if (instance) this.instances.delete(instance.id);
    for (const route of this.routes.values()) if (route.targetNode === name) route.blackhole = true;
  }
  /** The load balancers of a cluster with this name; there is more than one only without `uniqueNames`. */
  balancersNamed(cluster: string, name: string): FakeBalancer[] {
    return [...this.balancers.values()].filter((one) => one.name === name && one.cluster === cluster);
  }
  addBalancer(cluster: string, name: string, service: string, serviceUid: string): FakeBalancer {
    const [there] = this.#uniqueNames ? this.balancersNamed(cluster, name) : [];
    if (there) return there;
    const id = `lb-${String(++this.#counter).padStart(6, '0')}`;
    const balancer: FakeBalancer = { id, name, cluster, service, serviceUid, backends: [] };
    this.balancers.set(id, balancer);
    return balancer;
  }
  /** An address that nobody else has. */
  newAddress(): string {
    const number = ++this.#counter;
    return `198.18.${(number >> 8) & 255}.${number & 255}`;
  }
}
