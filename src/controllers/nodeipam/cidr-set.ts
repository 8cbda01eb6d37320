// The node-sized pieces of one cluster CIDR and which of them are taken (pkg/controller/nodeipam/ipam/cidrset).
import { cidrText, type IPPrefix, parseCIDR } from '#apimachinery/validation';

/** A node mask may be at most this much longer than an IPv6 cluster mask: the taken pieces are a bitmap. */
const subnetMaskDiffMax = 16;

export const noCidrsRemaining = 'CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range';

const widthOf = (prefix: IPPrefix): number => (prefix.network.family === 4 ? 32 : 128);

/** First and last address of a prefix. */
function bounds(prefix: IPPrefix): { first: bigint; last: bigint } {
  const hostBits = BigInt(widthOf(prefix) - prefix.length);
  return { first: prefix.network.value, last: prefix.network.value | ((1n << hostBits) - 1n) };
}

export class CidrSet {
  readonly #cluster: IPPrefix;
  readonly #maskSize: number;
  readonly #taken = new Set<number>();
  readonly #max: number;
  #next: number;

  /** `next`: the piece to try first. Throws for CIDRs that cannot be cut so. */
  constructor(clusterCidr: string, maskSize: number, next = 0) {
    const cluster = parseCIDR(clusterCidr);
    if (!cluster) throw new Error(`invalid CIDR address: ${clusterCidr}`);
    if (maskSize < cluster.length || maskSize > widthOf(cluster))
      throw new Error(
        'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family',
      );
    if (cluster.network.family === 6 && maskSize - cluster.length > subnetMaskDiffMax)
      throw new Error('New CIDR set failed; the node CIDR size is too big');
    this.#cluster = cluster;
    this.#maskSize = maskSize;
    this.#max = 2 ** (maskSize - cluster.length);
    this.#next = next % this.#max;
  }
  get next(): number {
    return this.#next;
  }
  /** Whether a CIDR has an address in common with the cluster's. */
  overlaps(cidr: string): boolean {
    return this.#indexes(cidr) !== undefined;
  }
  /** Marks every piece that `cidr` touches; false when it is out of range or no CIDR. */
  occupy(cidr: string): boolean {
    const range = this.#indexes(cidr);
    if (!range) return false;
    for (let index = range.begin; index <= range.end; index++) this.#taken.add(index);
    return true;
  }
  /** Whether a piece that `cidr` touches is marked. */
  isTaken(cidr: string): boolean {
    const range = this.#indexes(cidr);
    if (!range) return false;
    for (let index = range.begin; index <= range.end; index++) if (this.#taken.has(index)) return true;
    return false;
  }
  /** The next free piece, or undefined when there is none. Freed pieces come last again, so that addresses are not reused at once. */
  allocate(): string | undefined {
    if (this.#taken.size >= this.#max) return undefined;
    let candidate = this.#next;
    while (this.#taken.has(candidate)) candidate = (candidate + 1) % this.#max;
    this.#taken.add(candidate);
    this.#next = (candidate + 1) % this.#max;
    return this.#text(candidate);
  }
  #text(index: number): string {
    const shift = BigInt(widthOf(this.#cluster) - this.#maskSize);
    const network = { ...this.#cluster.network, value: this.#cluster.network.value + (BigInt(index) << shift) };
    return cidrText({ ...this.#cluster, address: network, network, length: this.#maskSize });
  }
  #indexes(cidr: string): { begin: number; end: number } | undefined {
    const prefix = parseCIDR(cidr);
    if (!prefix || prefix.network.family !== this.#cluster.network.family) return undefined;
    const own = bounds(this.#cluster);
    const other = bounds(prefix);
    if (other.last < own.first || other.first > own.last) return undefined;
    const shift = BigInt(widthOf(this.#cluster) - this.#maskSize);
    const index = (address: bigint): number => Number((address - own.first) >> shift);
    return {
      begin: other.first <= own.first ? 0 : index(other.first),
      end: other.last >= own.last ? this.#max - 1 : index(other.last),
    };
  }
}
