// Counters that the devices of a pool share, as partitions of one piece of hardware do (KEP-4815). Pure.
import type { Device } from '#api/resource/v1';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';
import type { DeviceId, KnownDevice } from './devices.ts';
import type { Pool } from './pools.ts';

/** What is left of each counter of a pool, by `set/counter`. */
export type Left = Map<string, Quantity>;

const take = (left: Left, { consumesCounters = [] }: Device, sign: 1 | -1): void => {
  for (const { counterSet, counters } of consumesCounters) {
    for (const [name, { value }] of Object.entries(counters)) {
      const key = `${counterSet}/${name}`;
      const amount = parseQuantity(value);
      const before = left.get(key);
      if (before !== undefined) left.set(key, sign > 0 ? before.sub(amount) : before.add(amount));
    }
  }
};

/** The counters of a pool less what its allocated devices use. */
export function leftOf({ counterSets, all }: Pick<Pool, 'counterSets' | 'all'>, isAllocated: (id: DeviceId) => boolean): Left {
  const left: Left = new Map();
  for (const [set, { counters }] of counterSets)
    for (const [name, { value }] of Object.entries(counters)) left.set(`${set}/${name}`, parseQuantity(value));
  for (const { id, device } of all) if (device.consumesCounters !== undefined && isAllocated(id)) take(left, device, 1);
  return left;
}

/** Takes what the device uses, if there is enough. */
export function takeCounters(left: Left, { device }: KnownDevice): boolean {
  take(left, device, 1);
  if (![...left.values()].some(({ sign }) => sign < 0)) return true;
  take(left, device, -1);
  return false;
}

export const giveCountersBack = (left: Left, { device }: KnownDevice): void => take(left, device, -1);
