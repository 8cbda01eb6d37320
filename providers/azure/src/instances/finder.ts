// The machine of a Node: by its provider ID, else by its name.
import type { Node } from 'sagong/cloud-provider';
import { undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Arm } from '../api/arm.ts';
import type { Settings } from '../settings.ts';
import type { Inventory } from './inventory.ts';
import { isGoing, type Machine, machineOf } from './machine.ts';
import { type MachineId, parseProviderId } from './provider-id.ts';

/** The label of Nodes whose machine is in another resource group. */
export const groupLabel = 'kubernetes.azure.com/resource-group';
const managedLabel = 'kubernetes.azure.com/managed';
/** Whether the machine is somewhere else, and nothing can be known of it here. */
export const isUnmanaged = ({ metadata }: Node): boolean => metadata.labels?.[managedLabel] === 'false';

export interface Finder {
  /** With its power state. Undefined: there is none. */
  ofNode(node: Node, signal?: AbortSignal): Promise<Machine | undefined>;
  at(id: MachineId, signal?: AbortSignal): Promise<Machine | undefined>;
  groupOf(node: Node): string;
}

export function createFinder(arm: Arm, settings: Settings, inventory: Inventory): Finder {
  const { subscription, group: ownGroup, looks } = settings;

  async function at(id: MachineId, signal?: AbortSignal): Promise<Machine | undefined> {
    if (id.subscription.toLowerCase() !== subscription.toLowerCase())
      throw new Error(`the machine is in subscription ${id.subscription}, not in ${subscription}`);
    const asking =
      id.scaleSet === undefined ? arm.machine(id.group, id.name, signal) : arm.member(id.group, id.scaleSet, id.name, signal);
    const vm = await asking.catch(undefinedIfAbsent);
    const machine = vm && machineOf(id, vm);
    return machine && !isGoing(machine) ? machine : undefined;
  }
  const groupOf = ({ metadata }: Node): string => metadata.labels?.[groupLabel] || ownGroup;

  async function byName(node: Node, signal?: AbortSignal): Promise<Machine | undefined> {
    const { name = '' } = node.metadata;
    const group = groupOf(node);
    if (looks.scaleSets) {
      const member = await inventory.memberNamed(group, name, signal);
      if (member) return at(member.id, signal);
    }
    if (looks.machines) {
      const machine = await at({ subscription, group, name }, signal);
      if (machine) return machine;
    }
    const flexible = looks.flexible ? await inventory.machineNamed(group, name, { asComputer: true }, signal) : undefined;
    return flexible && at(flexible.id, signal);
  }
  return {
    at,
    groupOf,
    ofNode: (node, signal) => (node.spec?.providerID ? at(parseProviderId(node.spec.providerID), signal) : byName(node, signal)),
  };
}
