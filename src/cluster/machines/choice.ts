// Whether a cluster is one of machines, as its first start chose it.
import { join } from 'node:path';
import { hostname, networkInterfaces } from 'node:os';
import { assertControlPlanePrograms } from '../control-planes/choice.ts';
import { apiPort } from '../control-planes/names.ts';
import type { ClusterSettings, MachineChoice } from '../state/settings.ts';

/** The folder of the first machine's own node. */
export const ownMachineDir = (dataDir: string): string => join(dataDir, 'machine');

/** Throws a sentence for an address that others cannot use. */
export function assertOwnAddress(address: string): void {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (!own.some((one) => one.family === 'IPv4' && one.address === address && !one.internal))
    throw new Error(`--advertise-address ${address} is no IPv4 address of this machine that others reach`);
}

interface Given {
  advertiseAddress?: string | undefined;
  nodes?: number | undefined;
  controlPlanes?: number | undefined;
  controlPlaneEndpoint?: string | undefined;
  port?: number | undefined;
  etcd?: object | undefined;
  audit?: object | undefined;
  cni?: string | undefined;
}

/** Reads `host:port`, with the usual port where none is given. Throws a sentence for anything else. */
export function endpointOf(text: string, flag: string): string {
  if (!/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9]([\w.-]*\w)?)(:\d{1,5})?$/.test(text))
    throw new Error(`${flag} must be host:port, not ${JSON.stringify(text)}`);
  return /:\d+$/.test(text) ? text : `${text}:${apiPort}`;
}

/** The name of this machine's member of the control plane; undefined: the control plane is one process with a store of its own. */
function controlPlaneOf(given: Given, before: ClusterSettings | undefined): string | undefined {
  if (before?.machine?.controlPlane === undefined && given.controlPlanes === undefined) return undefined;
  if ((given.controlPlanes ?? 1) !== 1)
    throw new Error('--control-planes must be 1 here: other machines become control planes by sagong join --control-plane');
  const excluded: [string, boolean][] = [
    ['--etcd-servers', (given.etcd ?? before?.etcd) !== undefined],
    [`--port ${given.port}`, (given.port || apiPort) !== apiPort],
    [`a cluster at port ${before?.port}`, (before?.port ?? apiPort) !== apiPort],
  ];
  for (const [flag, is] of excluded) if (is) throw new Error(`${flag} cannot be used with --control-planes`);
  // Requests that another machine's apiserver answers would not be recorded.
  if (given.audit !== undefined)
    throw new Error(
      '--audit-policy-file cannot be used with --control-planes here: put the policy on every control plane, and give --apiserver-arg audit-policy-file=FILE and --apiserver-arg audit-log-path=FILE, which all of them get',
    );
  assertControlPlanePrograms(['etcd', 'setpriv']);
  return before?.machine?.controlPlane ?? hostname().toLowerCase();
}

/** The choice of a start. The node of the first machine is the machine itself. */
export function machineOfStart(given: Given, before: ClusterSettings | undefined): MachineChoice | undefined {
  const advertiseAddress = given.advertiseAddress ?? before?.machine?.advertiseAddress;
  if (advertiseAddress === undefined) {
    if (given.controlPlaneEndpoint !== undefined) throw new Error('--control-plane-endpoint needs --advertise-address');
    return undefined;
  }
  if (before && !before.machine)
    throw new Error(
      'this cluster is on this machine alone; start another one with --advertise-address and a --data-dir or --name of its own',
    );
  if ((given.nodes ?? 1) > 1)
    throw new Error(
      'the nodes of a cluster of several machines are the machines: join others with sagong join (sagong token create --print-join-command)',
    );
  if ((given.cni ?? before?.cni) === 'none')
    throw new Error('--cni none cannot be used with --advertise-address: machines make the network of their pods themselves');
  assertOwnAddress(advertiseAddress);
  const controlPlane = controlPlaneOf(given, before);
  const wanted = given.controlPlaneEndpoint ?? before?.machine?.controlPlaneEndpoint;
  return {
    advertiseAddress,
    node: given.nodes === undefined ? (before?.machine?.node ?? true) : given.nodes === 1,
    ...(controlPlane !== undefined && { controlPlane }),
    ...(wanted !== undefined && { controlPlaneEndpoint: endpointOf(wanted, '--control-plane-endpoint') }),
  };
}

/** Where other machines find the control plane. */
export const endpointOfMachine = ({ advertiseAddress, controlPlaneEndpoint }: MachineChoice, port: number): string =>
  controlPlaneEndpoint ?? `${advertiseAddress}:${port}`;
