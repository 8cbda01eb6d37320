// The machines of the local cloud as virtual machines, each with a network interface and a public IP. What was written to an interface, the pools that it is in,
// stays.
import type { EmulatedMachine } from 'sagong/cloud-provider/emulator';
import { type Part, partsOf, type Resource } from './resource.ts';
import type { Subscription } from './subscription.ts';

export const group = 'local-cloud';
export const network = 'cluster';
export const subnet = 'nodes';
const succeeded = { provisioningState: 'Succeeded' };

/** Azure's zones are numbers: `local-1a` is the first. */
const zoneOf = (zone: string): string => String((zone.at(-1)?.charCodeAt(0) ?? 97) - 96);
const cardName = (name: string): string => `${name}-nic`;
const ipName = (name: string): string => `${name}-nic-ip`;
const isMachines = ({ name }: Resource): boolean => name.endsWith('-nic-ip');

const powers = { starting: 'starting', running: 'running', stopped: 'deallocated' } as const;

/** The public IPs that are not a machine's. */
export const ownIps = (subscription: Subscription): Resource[] =>
  subscription.of('Microsoft.Network/publicIPAddresses').filter((ip) => !isMachines(ip));

/** What is kept over restarts: all but machines and their public IPs. */
export const isKept = (resource: Resource): boolean =>
  !resource.type.startsWith('Microsoft.Compute/') &&
  !resource.type.startsWith('Microsoft.Network/virtualNetworks') &&
  !isMachines(resource);

function putIp(subscription: Subscription, { name, publicAddress }: EmulatedMachine, location: string): string | undefined {
  const id = subscription.network(group, 'publicIPAddresses', ipName(name));
  if (publicAddress === undefined) return undefined;
  const properties = {
    ...succeeded,
    publicIPAllocationMethod: 'Static',
    publicIPAddressVersion: 'IPv4',
    ipAddress: publicAddress,
  };
  subscription.put({
    id,
    name: ipName(name),
    type: 'Microsoft.Network/publicIPAddresses',
    location,
    sku: { name: 'Standard' },
    properties,
  });
  return id;
}

function putCard(subscription: Subscription, machine: EmulatedMachine, location: string, machineId: string): string {
  const id = subscription.network(group, 'networkInterfaces', cardName(machine.name));
  const there = subscription.get(id);
  const ip = putIp(subscription, machine, location);
  const [known] = partsOf(there, 'ipConfigurations');
  const config: Part = {
    name: 'ipconfig1',
    id: `${id}/ipConfigurations/ipconfig1`,
    properties: {
      ...known?.properties,
      primary: true,
      privateIPAddress: machine.privateAddress,
      privateIPAddressVersion: 'IPv4',
      privateIPAllocationMethod: 'Dynamic',
      subnet: { id: `${subscription.network(group, 'virtualNetworks', network)}/subnets/${subnet}` },
      ...(ip !== undefined && { publicIPAddress: { id: ip } }),
    },
  };
  const properties = {
    ...there?.properties,
    ...succeeded,
    primary: true,
    virtualMachine: { id: machineId },
    ipConfigurations: [config],
  };
  putIfOther(subscription, {
    id,
    name: cardName(machine.name),
    type: 'Microsoft.Network/networkInterfaces',
    location,
    properties,
  });
  return id;
}

/** An ETag changes only with what it is of. */
function putIfOther(subscription: Subscription, wanted: Resource): void {
  const { etag: _etag, ...there } = subscription.get(wanted.id) ?? { etag: '' };
  const { id, name, type, location, properties } = there as Partial<Resource>;
  if (JSON.stringify({ id, name, type, location, properties }) !== JSON.stringify(wanted))
    subscription.put({ ...there, ...wanted });
}

function putMachine(subscription: Subscription, machine: EmulatedMachine, location: string): void {
  const { name, type, zone, state } = machine;
  const id = subscription.path(group, 'Microsoft.Compute', 'virtualMachines', name);
  const card = putCard(subscription, machine, location, id);
  subscription.put({
    id,
    name,
    type: 'Microsoft.Compute/virtualMachines',
    location,
    zones: [zoneOf(zone)],
    properties: {
      ...succeeded,
      vmId: machine.id,
      hardwareProfile: { vmSize: type },
      osProfile: { computerName: name },
      networkProfile: { networkInterfaces: [{ id: card, properties: { primary: true } }] },
      power: powers[state],
      faultDomain: 0,
    },
  });
}

export function setMachines(subscription: Subscription, machines: readonly EmulatedMachine[], location: string): void {
  const names = new Set(machines.map(({ name }) => name));
  for (const { id, name } of subscription.of('Microsoft.Network/networkInterfaces')) {
    const machine = name.replace(/-nic$/, '');
    if (names.has(machine)) continue;
    subscription.delete(id);
    subscription.delete(subscription.network(group, 'publicIPAddresses', ipName(machine)));
    subscription.delete(subscription.path(group, 'Microsoft.Compute', 'virtualMachines', machine));
  }
  for (const machine of machines) putMachine(subscription, machine, location);
}
