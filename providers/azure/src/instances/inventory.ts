// The machines of a resource group by name, from lists that are kept for a while: many Nodes and many load balancers ask for the same ones.
import type { Clock } from 'sagong/cloud-provider';
import { createCache, isAbsent } from 'sagong/cloud-provider/kit';
import type { Arm } from '../api/arm.ts';
import { parseId } from '../ids.ts';
import { missingTtlMs } from '../limits.ts';
import type { Settings } from '../settings.ts';
import { isGoing, type Machine, machineOf } from './machine.ts';

export interface Inventory {
  /** A member of a scale set of mode Uniform, by the name it has itself. Undefined: there is none, also in a list that was read anew. */
  memberNamed(group: string, name: string, signal?: AbortSignal): Promise<Machine | undefined>;
  /** A single machine, by its name in Azure, or with `asComputer` by the one that it has itself. */
  machineNamed(group: string, name: string, how: { asComputer: boolean }, signal?: AbortSignal): Promise<Machine | undefined>;
  /** Scale sets of mode Uniform. */
  scaleSetNames(group: string, signal?: AbortSignal): Promise<string[]>;
  /** Somebody met a machine that does not exist any more. */
  forget(): void;
}

export interface InventoryDeps {
  arm: Arm;
  settings: Settings;
  clock: Clock;
}

function createLists({ arm, settings, clock }: InventoryDeps) {
  const { subscription, vmTtlMs, scaleSetTtlMs, memberTtlMs } = settings;
  const machines = createCache({
    clock,
    ttlMs: vmTtlMs,
    read: async (group, signal) =>
      (await arm.machines(group, signal))
        .map((vm) => ({
          name: (vm.name ?? '').toLowerCase(),
          machine: machineOf({ subscription, group, name: vm.name ?? '' }, vm),
        }))
        .filter(({ machine }) => !isGoing(machine)),
  });
  const scaleSets = createCache({
    clock,
    ttlMs: scaleSetTtlMs,
    read: async (group, signal) =>
      (await arm.scaleSets(group, signal))
        .filter(
          ({ orchestrationMode, provisioningState }) => orchestrationMode !== 'Flexible' && provisioningState !== 'Deleting',
        )
        .map(({ name = '' }) => name),
  });
  const members = createCache({
    clock,
    ttlMs: memberTtlMs,
    async read(key, signal) {
      const [group = '', scaleSet = ''] = key.split('/');
      // A scale set that went since its list was read has no members.
      const all = await arm.members(group, scaleSet, signal).catch((error: unknown) => {
        if (!isAbsent(error)) throw error;
        return [];
      });
      return all
        .map((vm) => machineOf({ subscription, group, scaleSet, name: vm.instanceId ?? parseId(vm.id)?.names[1] ?? '' }, vm))
        .filter((machine) => !isGoing(machine));
    },
  });
  return { machines, scaleSets, members };
}

export function createInventory(deps: InventoryDeps): Inventory {
  const { machines, scaleSets, members } = createLists(deps);
  const { clock } = deps;
  /** Names that were missing from fresh lists a moment ago: no other lists are read for their sake. */
  const missing = createCache({ clock, ttlMs: missingTtlMs, read: () => Promise.resolve(true) });
  const forget = (): void => {
    for (const cache of [machines, scaleSets, members, missing]) cache.forget();
  };

  /** Looks in the lists that are known, and where nothing is found once more in lists that are read anew. */
  async function twice(key: string, look: () => Promise<Machine | undefined>): Promise<Machine | undefined> {
    const found = await look();
    if (found || missing.peek(key)) return found;
    for (const cache of [machines, scaleSets, members]) cache.forget();
    const later = await look();
    if (!later) await missing.get(key);
    return later;
  }
  return {
    forget,
    scaleSetNames: (group, signal) => scaleSets.get(group, signal),
    memberNamed: (group, name, signal) =>
      twice(`member ${group} ${name}`, async () => {
        for (const scaleSet of await scaleSets.get(group, signal)) {
          const all = await members.get(`${group}/${scaleSet}`, signal);
          const found = all.find(({ computerName }) => computerName === name.toLowerCase());
          if (found) return found;
        }
        return undefined;
      }),
    machineNamed: (group, name, { asComputer }, signal) =>
      twice(`machine ${group} ${name} ${asComputer}`, async () => {
        const all = await machines.get(group, signal);
        return all.find((one) => (asComputer ? one.machine.computerName : one.name) === name.toLowerCase())?.machine;
      }),
  };
}
