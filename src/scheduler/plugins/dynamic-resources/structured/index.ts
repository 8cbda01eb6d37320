// Allocates devices to claims with structured parameters: what a pod's claims get on a node, from the slices that drivers publish (upstream
// k8s.io/dynamic-resource-allocation/structured, KEP-4381; alternatives KEP-4816, partitions KEP-4815, taints KEP-5055, shares KEP-5075). Pure.
import type { Node } from '#api/core/v1';
import type { AllocationResult, ResourceClaim, ResourceSlice } from '#api/resource/v1';
import { parseQuantity } from '#apimachinery/quantity';
import type { Rng } from '#utils';
import { resultsMax } from '../limits.ts';
import { addConsumed, type Consumed } from './capacity.ts';
import { deviceId, type DeviceId } from './devices.ts';
import { poolsFor, poolsOf } from './pools.ts';
import { claimText, type Classes, wantedOf, type WantedClaim } from './requests.ts';
import { allocationOf } from './result.ts';
import { type InUse, newTries, Search } from './search.ts';
import { AllocationError } from './selectors.ts';

export { TooManyTries } from './search.ts';
export { AllocationError } from './selectors.ts';

/** What the claims of a cluster have been given. Devices for administrators do not count. */
export function inUseOf(claims: readonly ResourceClaim[]): InUse {
  const devices = new Set<DeviceId>();
  const shared = new Map<DeviceId, Consumed>();
  for (const { status } of claims) {
    for (const { driver, pool, device, adminAccess, shareID, consumedCapacity = {} } of status?.allocation?.devices?.results ??
      []) {
      if (adminAccess) continue;
      const id = deviceId(driver, pool, device);
      if (shareID === undefined) devices.add(id);
      else {
        const amounts = Object.entries(consumedCapacity).map(([name, amount]) => [name, parseQuantity(amount)] as const);
        shared.set(id, addConsumed(shared.get(id), new Map(amounts)));
      }
    }
  }
  return { devices, shared };
}

/** A claim that asks for more devices than one may have is refused on every node. */
function checkSize({ claim, requests }: WantedClaim): void {
  const least = requests.reduce((sum, options) => sum + Math.min(...options.map(({ count }) => count)), 0);
  if (least <= resultsMax) return;
  throw new AllocationError(`${claimText(claim)}: number of requested devices ${least} exceeds the claim limit of ${resultsMax}`);
}

export interface Allocator {
  /**
   * An allocation for each claim, or undefined: not on this node. Throws `AllocationError` for what no node can change, and `TooManyTries`.
   */
  allocate(node: Node): readonly AllocationResult[] | undefined;
}

/** An allocator for the claims of one pod, for any number of nodes. */
export function allocatorFor(
  claims: readonly ResourceClaim[],
  world: { slices: readonly ResourceSlice[]; inUse: InUse; classes: Classes; rng: Rng },
): Allocator {
  const whole = poolsOf(world.slices);
  const tries = newTries();
  return {
    allocate(node) {
      const pools = poolsFor(node, whole);
      const wanted = claims.map((claim) => wantedOf(claim, pools, world.classes));
      for (const one of wanted) checkSize(one);
      const search = new Search(wanted, pools, world.inUse, tries, world.rng);
      if (!search.run()) return undefined;
      return claims.map((claim, index) => allocationOf(claim, search.placements[index] ?? [], node.metadata.name ?? ''));
    },
  };
}
