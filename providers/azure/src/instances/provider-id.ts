// Provider IDs: `azure://` and the resource ID of the machine, with its resource group in lower case as upstream writes it. Pure.
import { instanceIdOf, providerIdOf } from 'sagong/cloud-provider';
import { parseId, resourceId } from '../ids.ts';
import { providerName } from '../names.ts';

/** A single machine, or a member of a scale set of mode Uniform. */
export interface MachineId {
  subscription: string;
  group: string;
  scaleSet?: string;
  /** Name of a machine; number of a member. */
  name: string;
}

export function formatProviderId({ subscription, group, scaleSet, name }: MachineId): string {
  const path =
    scaleSet === undefined ? ['virtualMachines', name] : ['virtualMachineScaleSets', scaleSet, 'virtualMachines', name];
  return providerIdOf(providerName, resourceId(subscription, group.toLowerCase(), 'Microsoft.Compute', ...path));
}

/** Throws for the ID of another cloud. */
export function parseProviderId(providerId: string): MachineId {
  const id = machineIdOf(providerId);
  if (id) return id;
  throw new Error(`error splitting providerID: ${JSON.stringify(providerId)}`);
}

/** The machine that a provider ID names; undefined for the ID of another cloud. */
export function machineIdOf(providerId: string): MachineId | undefined {
  const id = parseId(instanceIdOf(providerName, providerId));
  const [first, second] = id?.names ?? [];
  const type = id?.namespace.toLowerCase() === 'microsoft.compute' ? id.type.toLowerCase() : '';
  if (id && first && type === 'virtualmachines') return { subscription: id.subscription, group: id.group, name: first };
  if (id && first && second && type === 'virtualmachinescalesets/virtualmachines')
    return { subscription: id.subscription, group: id.group, scaleSet: first, name: second };
  return undefined;
}
