// Looks for devices for all claims of a pod on one node: the first set, in the order of pools and slices, that satisfies every request and
// constraint. A search that goes wrong goes one step back and tries the next device; the number of tries is bounded. Pure.
import type { Rng } from '#utils';
import { resultsMax, triesMax, triesOfReturn } from '../limits.ts';
import { addConsumed, consume, type Consumed } from './capacity.ts';
import { type Constraint, constraintOf } from './constraints.ts';
import { giveCountersBack, type Left, leftOf, takeCounters } from './counters.ts';
import type { DeviceId, KnownDevice } from './devices.ts';
import type { Pool } from './pools.ts';
import { claimText, isSelectable, isTaintedFor, type Option, type WantedClaim } from './requests.ts';
import { AllocationError } from './selectors.ts';

/** A device that a request gets. */
export interface Placement {
  readonly option: Option;
  readonly device: KnownDevice;
  /** Set where several may share the device. */
  readonly shareId?: string;
  readonly consumed?: Consumed;
}

/** What claims have been given already. */
export interface InUse {
  /** Devices that belong to one claim. */
  readonly devices: ReadonlySet<DeviceId>;
  /** Devices that claims share, with what they have taken. */
  readonly shared: ReadonlyMap<DeviceId, Consumed>;
}

/** How many devices may still be tried, on all nodes together. */
export interface Tries {
  left: number;
}

export const newTries = (): Tries => ({ left: triesMax });

/** The search ran out of tries. */
export class TooManyTries extends Error {}

/** `full`: a claim would have more devices than it may, so that only another alternative can help. */
type Outcome = 'found' | 'none' | 'full';

/** How far a search has come: at the device number `had` of an option, with the candidates from `from` on still to try. */
interface Position {
  readonly claim: number;
  readonly request: number;
  readonly option: Option;
  readonly had: number;
  readonly from: number;
}

const nothing: Consumed = new Map();
const isShared = ({ device }: KnownDevice): boolean => device.allowMultipleAllocations === true;

export class Search {
  /** For each claim, what it was given. */
  readonly placements: Placement[][];
  readonly #wanted: readonly WantedClaim[];
  readonly #pools: readonly Pool[];
  readonly #inUse: InUse;
  readonly #tries: Tries;
  readonly #rng: Rng;
  readonly #constraints: readonly (readonly Constraint[])[];
  /** Devices that this search has given away, and to which claims. */
  readonly #taken = new Map<DeviceId, number[]>();
  readonly #shares = new Map<DeviceId, Consumed[]>();
  readonly #left = new Map<string, Left>();
  readonly #poolOf = new Map<KnownDevice, Pool>();

  constructor(wanted: readonly WantedClaim[], pools: readonly Pool[], inUse: InUse, tries: Tries, rng: Rng) {
    this.#wanted = wanted;
    this.#pools = pools;
    this.#inUse = inUse;
    this.#tries = tries;
    this.#rng = rng;
    this.placements = wanted.map(() => []);
    this.#constraints = wanted.map(({ claim }) =>
      (claim.spec.devices?.constraints ?? []).map((one, index) => {
        const constraint = constraintOf(one);
        if (constraint !== undefined) return constraint;
        throw new AllocationError(`${claimText(claim)}, constraint #${index}: empty constraint (unsupported constraint type?)`);
      }),
    );
    for (const pool of pools) for (const device of pool.devices) this.#poolOf.set(device, pool);
  }

  /** Whether all claims have what they want; `placements` says what. */
  run(): boolean {
    return this.#claim(0) === 'found';
  }

  #claim(index: number): Outcome {
    return index >= this.#wanted.length ? 'found' : this.#request(index, 0);
  }

  #request(claim: number, index: number): Outcome {
    const options = this.#wanted[claim]?.requests[index];
    if (options === undefined) {
      const next = this.#claim(claim + 1);
      return next === 'full' ? 'none' : next;
    }
    let outcome: Outcome = 'full';
    for (const option of options) {
      const tried = this.#devices({ claim, request: index, option, had: 0, from: 0 });
      if (tried === 'found') return tried;
      if (tried === 'none') outcome = tried;
    }
    return outcome;
  }

  #devices(at: Position): Outcome {
    const { claim, request, option, had, from } = at;
    if (option.every?.length === 0) return 'none';
    if (had >= option.count) return this.#request(claim, request + 1);
    if ((this.placements[claim]?.length ?? 0) + option.count - had > resultsMax) return 'full';
    if (option.every !== undefined) return this.#try(at, option.every[had] as KnownDevice);
    let position = 0;
    for (const { devices } of this.#pools) {
      for (const device of devices) {
        if (position++ < from) continue;
        const outcome = this.#try({ ...at, from: position }, device);
        if (outcome !== 'none') return outcome;
      }
    }
    return 'none';
  }

  /** Gives the device to the option and goes on behind it; takes it back where that leads nowhere. */
  #try(at: Position, device: KnownDevice): Outcome {
    if (--this.#tries.left < 0) throw new TooManyTries();
    const { claim, option, had } = at;
    const placement = this.#place(claim, option, device);
    if (placement === undefined) return 'none';
    const outcome = this.#devices({ ...at, had: had + 1 });
    if (outcome !== 'found') this.#takeBack(claim, placement);
    return outcome;
  }

  #isFree(claim: number, option: Option, { id }: KnownDevice): boolean {
    const takers = this.#taken.get(id) ?? [];
    if (option.isAdmin) return !takers.includes(claim);
    return takers.length === 0 && !this.#inUse.devices.has(id);
  }

  #takenOf(id: DeviceId): Consumed {
    let taken = this.#inUse.shared.get(id) ?? nothing;
    for (const share of this.#shares.get(id) ?? []) taken = addConsumed(taken, share);
    return taken;
  }

  #leftOf(pool: Pool): Left {
    const known = this.#left.get(pool.id) ?? leftOf(pool, (id) => this.#inUse.devices.has(id) || this.#inUse.shared.has(id));
    this.#left.set(pool.id, known);
    return known;
  }

  /** Counters of a device that several share are taken once, with its first share. */
  #usesCounters({ id, device }: KnownDevice): boolean {
    if ((device.consumesCounters?.length ?? 0) === 0) return false;
    return device.allowMultipleAllocations !== true || (!this.#inUse.shared.has(id) && (this.#shares.get(id)?.length ?? 0) === 0);
  }

  #place(claim: number, option: Option, device: KnownDevice): Placement | undefined {
    const { claim: object } = this.#wanted[claim] as WantedClaim;
    if (!this.#isFree(claim, option, device) || !isSelectable(option, device, object)) return undefined;
    const consumed = consume(device.device, option.capacity, isShared(device) ? this.#takenOf(device.id) : nothing);
    if (consumed === undefined || isTaintedFor(device, option)) return undefined;
    const pool = this.#poolOf.get(device) as Pool;
    const usesCounters = this.#usesCounters(device);
    if (usesCounters && !takeCounters(this.#leftOf(pool), device)) return undefined;
    if (!this.#satisfies(claim, option, device)) {
      if (usesCounters) giveCountersBack(this.#leftOf(pool), device);
      if (option.every === undefined) return undefined;
      throw new AllocationError(
        `${claimText(object)}, request ${option.name.split('/').at(-1)}: cannot add device ${device.id} because a claim constraint would not be satisfied`,
      );
    }
    return this.#note(claim, option, device, consumed);
  }

  #satisfies(claim: number, option: Option, device: KnownDevice): boolean {
    const constraints = this.#constraints[claim] ?? [];
    const refusing = constraints.findIndex((constraint) => !constraint.add(option.name, device));
    if (refusing < 0) return true;
    for (const constraint of constraints.slice(0, refusing)) constraint.remove(option.name, device);
    return false;
  }

  #note(claim: number, option: Option, device: KnownDevice, consumed: Consumed): Placement {
    const placement = isShared(device)
      ? { option, device, shareId: this.#rng.uuid(), ...(consumed.size > 0 && { consumed }) }
      : { option, device };
    if (isShared(device)) this.#shares.set(device.id, [...(this.#shares.get(device.id) ?? []), consumed]);
    else this.#taken.set(device.id, [...(this.#taken.get(device.id) ?? []), claim]);
    this.placements[claim]?.push(placement);
    return placement;
  }

  #takeBack(claim: number, { option, device }: Placement): void {
    this.#tries.left -= triesOfReturn;
    this.placements[claim]?.pop();
    for (const constraint of this.#constraints[claim] ?? []) constraint.remove(option.name, device);
    if (isShared(device)) this.#shares.set(device.id, (this.#shares.get(device.id) ?? []).slice(0, -1));
    else
      this.#taken.set(
        device.id,
        (this.#taken.get(device.id) ?? []).filter((one) => one !== claim),
      );
    if (this.#usesCounters(device)) giveCountersBack(this.#leftOf(this.#poolOf.get(device) as Pool), device);
  }
}
