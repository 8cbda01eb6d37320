// Cluster IPs are IPAddress objects (KEP-1880): the request that creates the object has the address, on every server of the cluster.
import type { IPAddress, ServiceCIDR } from '#api/networking/v1';
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import type { Rng } from '#utils';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import type { ClusterWriter } from '../../writer.ts';
import {
  type AddressRange,
  addressRange,
  addressValue,
  familyOf,
  formatAddress,
  type IpFamily,
  rangeHolds,
} from './addresses.ts';

export const claimGroup = 'networking.k8s.io';
const group = claimGroup;
export const claimLabels = {
  managedBy: 'ipaddress.kubernetes.io/managed-by',
  family: 'ipaddress.kubernetes.io/ip-family',
  /** What the first label says of claims made here. */
  allocator: 'ipallocator.k8s.io',
} as const;

/** An address cannot be had; the message is upstream's. */
export class IpAllocationError extends Error {
  /** No address is left at all. */
  readonly full: boolean;
  constructor(message: string, full = false) {
    super(message);
    this.name = 'IpAllocationError';
    this.full = full;
  }
}

export interface ServiceName {
  namespace: string;
  name: string;
}

/** The object whose creation claims an address for a Service. `address` must be an address in its usual form. */
export const claimOf = (address: string, service: ServiceName): IPAddress => ({
  metadata: {
    name: address,
    labels: { [claimLabels.family]: familyOf(address) ?? 'IPv4', [claimLabels.managedBy]: claimLabels.allocator },
  },
  spec: { parentRef: { resource: 'services', namespace: service.namespace, name: service.name } },
});

/** Addresses tried at random before the range is walked from there on. */
const walkMax = 1n << 20n;

export class IpAllocator {
  readonly #cluster: ReadOnlyCluster;
  readonly #writer: ClusterWriter;
  readonly #rng: Rng;
  readonly #configured: readonly AddressRange[];

  /** `cidrs`: `--service-cluster-ip-range`; ServiceCIDR objects add to them. */
  constructor(cluster: ReadOnlyCluster, writer: ClusterWriter, rng: Rng, cidrs: readonly string[]) {
    this.#cluster = cluster;
    this.#writer = writer;
    this.#rng = rng;
    this.#configured = cidrs.map(addressRange);
  }

  /** The families of the configured ranges; the first is the default one. */
  get families(): IpFamily[] {
    return [...new Set(this.#configured.map(({ family }) => family))];
  }

  #ranges(family: IpFamily): AddressRange[] {
    const known = new Set(this.#configured.map(({ cidr }) => cidr));
    const usable = this.#cluster.list<ServiceCIDR>(group, 'servicecidrs').filter(isReady);
    const added = usable.flatMap(({ spec }) => (spec?.cidrs ?? []).filter((cidr) => !known.has(cidr)).map(addressRange));
    return [...this.#configured, ...added].filter((range) => range.family === family);
  }

  async #claim(address: string, service: ServiceName): Promise<void> {
    try {
      await this.#writer.create(group, 'ipaddresses', claimOf(address, service), { manager: 'kube-apiserver' });
    } catch (error) {
      if (isAlreadyExists(error)) throw new IpAllocationError('provided IP is already allocated');
      throw error;
    }
  }

  #taken(address: string): boolean {
    return this.#cluster.get(group, 'ipaddresses', '', address) !== undefined;
  }

  /** Takes an address that was asked for. Rejects with `IpAllocationError`. */
  async allocate(address: string, family: IpFamily, service: ServiceName, dryRun: boolean): Promise<void> {
    const value = addressValue(address);
    const ranges = this.#ranges(family);
    // Upstream tries a dry run on one range only, whatever others there are.
    const range = dryRun ? ranges[0] : ranges.find((candidate) => rangeHolds(candidate, value, family));
    if (!range) throw new IpAllocationError('the provided network does not match the current range');
    if (value < range.first || value > range.last) {
      throw new IpAllocationError(
        `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.cidr}`,
      );
    }
    if (dryRun) return;
    if (this.#taken(address)) throw new IpAllocationError('provided IP is already allocated');
    await this.#claim(formatAddress(value, family), service);
  }

  /** Takes any free address. Rejects with `IpAllocationError` when all are taken. */
  async allocateNext(family: IpFamily, service: ServiceName, dryRun: boolean): Promise<string> {
    for (const range of this.#ranges(family)) {
      if (dryRun) return formatAddress(range.base, family);
      const found =
        (await this.#search(range, range.dynamicFirst, range.last, service)) ??
        (await this.#search(range, range.first, range.dynamicFirst - 1n, service));
      if (found !== undefined) return found;
    }
    throw new IpAllocationError('range is full', true);
  }

  /** Walks from a random place around the part of the range. */
  async #search({ family }: AddressRange, first: bigint, last: bigint, service: ServiceName): Promise<string | undefined> {
    const size = last - first + 1n;
    if (size <= 0n) return undefined;
    const bound = size > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(size);
    const start = BigInt(this.#rng.int(bound));
    for (let step = 0n; step < size && step < walkMax; step++) {
      const address = formatAddress(first + ((start + step) % size), family);
      if (this.#taken(address)) continue;
      try {
        await this.#claim(address, service);
        return address;
      } catch (error) {
        if (!(error instanceof IpAllocationError)) throw error;
      }
    }
    return undefined;
  }

  /** Gives an address back; it may be gone already. */
  async release(address: string): Promise<void> {
    try {
      await this.#writer.delete(group, 'ipaddresses', '', address);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Where nobody says whether it is ready, as without a controller manager, it is. */
const isReady = ({ metadata, status }: ServiceCIDR): boolean => {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  return metadata.deletionTimestamp === undefined && (condition === undefined || condition.status === 'True');
};
