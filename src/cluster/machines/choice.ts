// Whether a cluster is one of machines, as its first start chose it.
import { join } from 'node:path';
import { networkInterfaces } from 'node:os';
import type { ClusterSettings, MachineChoice } from '../settings.ts';

/** Of the first machine's own node. */
export const ownMachineDir = (dataDir: string): string => join(dataDir, 'machine');

/** Throws a sentence for an address that others cannot use. */
export function assertOwnAddress(address: string): void {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (!own.some((one) => one.family === 'IPv4' && one.address === address && !one.internal))
    throw new Error(`--advertise-address ${address} is no IPv4 address of this machine that others reach`);
}

/** The choice of a start. The node of the first machine is the machine itself. */
export function machineOfStart(
  given: { advertiseAddress?: string | undefined; nodes?: number | undefined },
  before: ClusterSettings | undefined,
): MachineChoice | undefined {
  const advertiseAddress = given.advertiseAddress ?? before?.machine?.advertiseAddress;
  if (advertiseAddress === undefined) return undefined;
  if (before && !before.machine)
    throw new Error(
      'this cluster is on this machine alone; start another one with --advertise-address and a --data-dir or --name of its own',
    );
  if ((given.nodes ?? 1) > 1)
    throw new Error(
      'the nodes of a cluster of several machines are the machines: join others with sagong join (sagong token create --print-join-command)',
    );
  assertOwnAddress(advertiseAddress);
  return { advertiseAddress, node: given.nodes === undefined ? (before?.machine?.node ?? true) : given.nodes === 1 };
}
