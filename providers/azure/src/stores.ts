// Things of Azure that several writers change: each change is a function of what is there now, and is written over exactly the version that was read.
import type { LoadBalancer, NetworkInterface, NetworkSecurityGroup, PublicIPAddress, RouteTable } from '@azure/arm-network';
import { createSharedWrites, fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Arm, Collection } from './api/arm.ts';

/** What a store knows of one resource: `there` is undefined where it does not exist. */
export type Stored<T> = { there: T | undefined };

export interface Store<T> {
  read(group: string, name: string, signal?: AbortSignal): Promise<T | undefined>;
  /**
   * Gives what is there then. `change` gets undefined for what is not there; it gives the thing as it should be, `'gone'`, or undefined when nothing is to
   * be done. Changes of the same thing go together.
   */
  change(
    group: string,
    name: string,
    change: (there: T | undefined) => T | 'gone' | undefined,
    signal?: AbortSignal,
  ): Promise<T | undefined>;
}

export interface StoreOptions<T> {
  collection: Collection<T>;
  /** What Azure would refuse to delete is made ready; also for a thing that a change has emptied. */
  beforeDelete?(group: string, name: string, thing: T, signal: AbortSignal): Promise<void>;
}

export function createStore<T>({ collection, beforeDelete }: StoreOptions<T>): Store<T> {
  const read = (group: string, name: string, signal?: AbortSignal): Promise<T | undefined> =>
    collection.get(group, name, signal).catch(undefinedIfAbsent);
  const parts = (key: string): [string, string] => key.split('/') as [string, string];
  const seen = new WeakMap<object, T>();
  const write = createSharedWrites<Stored<T>>({
    async read(key, signal) {
      const there = await read(...parts(key), signal);
      return { there };
    },
    async write(key, stored, signal) {
      const [group, name] = parts(key);
      if (stored.there !== undefined) return { there: await collection.put(group, name, stored.there, signal) };
      const last = seen.get(stored);
      if (last !== undefined) await beforeDelete?.(group, name, last, signal);
      await collection.delete(group, name, signal).catch(fineIfAbsent);
      return { there: undefined };
    },
  });
  return {
    read,
    async change(group, name, change, signal) {
      const stored = await write(
        `${group}/${name}`,
        ({ there }) => {
          const wanted = change(there);
          if (wanted === undefined || (wanted === 'gone' && there === undefined)) return undefined;
          if (wanted !== 'gone') return { there: wanted };
          const gone: Stored<T> = { there: undefined };
          if (there !== undefined) seen.set(gone, there);
          return gone;
        },
        signal,
      );
      return stored.there;
    },
  };
}

export interface Stores {
  loadBalancers: Store<LoadBalancer>;
  publicIps: Store<PublicIPAddress>;
  securityGroups: Store<NetworkSecurityGroup>;
  routeTables: Store<RouteTable>;
  interfaces: Store<NetworkInterface>;
}

export const createStores = (arm: Arm, options: Pick<StoreOptions<LoadBalancer>, 'beforeDelete'>): Stores => ({
  loadBalancers: createStore({ collection: arm.loadBalancers, ...options }),
  publicIps: createStore({ collection: arm.publicIps }),
  securityGroups: createStore({ collection: arm.securityGroups }),
  routeTables: createStore({ collection: arm.routeTables }),
  interfaces: createStore({ collection: arm.interfaces }),
});
