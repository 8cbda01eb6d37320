// What is known of a machine, whether it stands alone or belongs to a scale set. Pure.
import type { VirtualMachine, VirtualMachineScaleSetVM } from '@azure/arm-compute';
import type { MachineId } from './provider-id.ts';

export interface Machine {
  id: MachineId;
  /** As it calls itself. */
  computerName: string;
  size: string;
  region: string;
  /** `westeurope-1`; the fault domain of a machine without a zone. */
  zone: string;
  /** `running`, `deallocated`; undefined: not known. */
  power: string | undefined;
  provisioning: string;
  /** Resource ID of its first network card. */
  interfaceId: string | undefined;
}

const powerPrefix = 'powerstate/';
const powerOf = (statuses: readonly { code?: string }[] = []): string | undefined =>
  statuses
    .map(({ code = '' }) => code.toLowerCase())
    .find((code) => code.startsWith(powerPrefix))
    ?.slice(powerPrefix.length);

/** What a machine and a member have in common. */
export function machineOf(id: MachineId, vm: VirtualMachine | VirtualMachineScaleSetVM): Machine {
  const { location = '', zones = [], hardwareProfile, instanceView, osProfile, networkProfile, provisioningState = '' } = vm;
  const sku = 'sku' in vm ? vm.sku?.name : undefined;
  const cards = networkProfile?.networkInterfaces ?? [];
  const first = cards.length === 1 ? cards[0] : cards.find(({ primary }) => primary);
  const region = location.toLowerCase();
  return {
    id,
    computerName: (osProfile?.computerName ?? instanceView?.computerName ?? vm.name ?? '').toLowerCase(),
    size: hardwareProfile?.vmSize ?? sku ?? '',
    region,
    zone: zones[0] ? `${region}-${zones[0]}` : String(instanceView?.platformFaultDomain ?? 0),
    power: powerOf(instanceView?.statuses),
    provisioning: provisioningState.toLowerCase(),
    interfaceId: first?.id,
  };
}

const off = ['stopped', 'deallocated', 'deallocating'];
/** A machine that is being changed may go on again, so it does not count as off. */
export const isOff = ({ power, provisioning }: Machine): boolean => provisioning === 'succeeded' && off.includes(power ?? '');
/** Whether the machine is being deleted, which counts as gone. */
export const isGoing = ({ provisioning }: Pick<Machine, 'provisioning'>): boolean => provisioning === 'deleting';
