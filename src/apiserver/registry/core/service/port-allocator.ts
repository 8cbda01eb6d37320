// Node ports (pkg/registry/core/service/portallocator): which are in use follows from the services themselves, kept up as they change, together with
// what writes under way hold, and, where other apiservers write to the same store, with what is claimed there.
import type { Service } from '#api/core/v1';
import type { Store } from '#store';
import type { Clock, Rng } from '#utils';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { PortClaims } from './port-claims.ts';

export interface PortRange {
  first: number;
  /** Inclusive. */
  last: number;
}

/** A port cannot be had; the message is upstream's. */
export class PortAllocationError extends Error {}

/** All node ports that a Service holds, each once. */
export function portsOf(service: Service): number[] {
  const { ports = [], healthCheckNodePort } = service.spec ?? {};
  const all = ports.map(({ nodePort = 0 }) => nodePort);
  return [...new Set([...all, healthCheckNodePort ?? 0])].filter((port) => port > 0);
}

/** Ports kept for users who ask for one (KEP-3668). */
function staticCount(size: number): number {
  if (size <= 16) return 0;
  return Math.min(Math.max(Math.floor(size / 32), 16), 128);
}

export class PortAllocator {
  readonly range: PortRange;
  readonly #rng: Rng;
  /** Holders of each port: services, or writes under way. */
  readonly #holders = new Map<number, Set<unknown>>();
  readonly #stop: () => void;
  /** Undefined: nobody else writes to the store, and what is seen here is all there is. */
  readonly #claims: PortClaims | undefined;

  constructor(cluster: ReadOnlyCluster, rng: Rng, range: PortRange, shared?: SharedStore) {
    this.#claims = shared && new PortClaims(shared.store, shared.clock, range, () => this.#ofServices());
    this.range = range;
    this.#rng = rng;
    const key = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;
    for (const service of cluster.list<Service>('', 'services'))
      for (const port of portsOf(service)) this.#hold(port, key(service));
    this.#stop = cluster.onChange<Service>('', 'services', (now, before) => {
      if (before) for (const port of portsOf(before)) this.#drop(port, key(before));
      if (now) for (const port of portsOf(now)) this.#hold(port, key(now));
    });
  }

  stop(): void {
    this.#stop();
  }

  #hold(port: number, holder: unknown): void {
    const holders = this.#holders.get(port) ?? new Set();
    this.#holders.set(port, holders.add(holder));
  }

  #drop(port: number, holder: unknown): void {
    const holders = this.#holders.get(port);
    holders?.delete(holder);
    if (holders?.size === 0) this.#holders.delete(port);
  }

  /** Ports of services, without those that only a write under way has. */
  #ofServices(): number[] {
    return [...this.#holders].flatMap(([port, holders]) => ([...holders].some((one) => typeof one === 'string') ? [port] : []));
  }

  /** A port is taken when the shared record of claims has it or when a write that has not ended yet holds it. The record knows of deletions first. */
  #isTaken(port: number): boolean {
    if (!this.#claims) return this.#holders.has(port);
    return this.#claims.has(port) || [...(this.#holders.get(port) ?? [])].some((holder) => typeof holder !== 'string');
  }

  /** Gives ports back that no service has any more. */
  async release(ports: readonly number[]): Promise<void> {
    if (ports.length > 0) await this.#claims?.release(ports);
  }

  /**
   * The ports that one write takes, until it ends: those that `choose` allocates. It may be called several times, each time with nothing taken, until nobody
   * else has them. `tentative`: nothing is claimed for others to see.
   */
  async begin(choose: (operation: PortOperation) => void, tentative: boolean): Promise<PortOperation> {
    const operation = this.#operation();
    const chosen = (): readonly number[] => {
      operation.end();
      choose(operation);
      return operation.taken;
    };
    try {
      if (this.#claims && !tentative) await this.#claims.claim(chosen);
      else chosen();
      return operation;
    } catch (error) {
      operation.end();
      throw error;
    }
  }

  #operation(): PortOperation {
    const holder = {};
    const taken: number[] = [];
    const take = (port: number): void => {
      this.#hold(port, holder);
      taken.push(port);
    };
    return {
      allocate: (port) => {
        const { first, last } = this.range;
        if (port < first || port > last) {
          throw new PortAllocationError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
        }
        if (this.#isTaken(port)) throw new PortAllocationError('provided port is already allocated');
        take(port);
      },
      allocateNext: () => {
        const { first, last } = this.range;
        const dynamic = first + staticCount(last - first + 1);
        const port = this.#free(dynamic, last) ?? this.#free(first, dynamic - 1);
        if (port === undefined) throw new PortAllocationError('range is full');
        take(port);
        return port;
      },
      taken,
      // The committed Service holds its ports itself from now on; a failed write holds no ports.
      end: () => {
        for (const port of taken) this.#drop(port, holder);
        taken.length = 0;
      },
    };
  }

  #free(first: number, last: number): number | undefined {
    const size = last - first + 1;
    if (size <= 0) return undefined;
    const start = this.#rng.int(size);
    for (let step = 0; step < size; step++) {
      const port = first + ((start + step) % size);
      if (!this.#isTaken(port)) return port;
    }
    return undefined;
  }
}

export interface PortOperation {
  /** Throws `PortAllocationError`. */
  allocate(port: number): void;
  /** Throws `PortAllocationError` when the range is full. */
  allocateNext(): number;
  /** What was allocated so far. */
  readonly taken: readonly number[];
  end(): void;
}

/** A store that other apiservers write to as well. */
export interface SharedStore {
  store: Store;
  clock: Clock;
}
