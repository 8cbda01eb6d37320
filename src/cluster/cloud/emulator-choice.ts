// Which vendor a start emulates, and what the cluster's nodes are called. Apart from what does it, which is loaded only when a vendor is named.
import type { EmulatorName } from '#cloud/emulators';
import { type UpFlags, upDefaults } from '../flags/index.ts';
import { type ClusterSettings, nodeNames } from '../state/settings.ts';

interface Start extends Pick<UpFlags, 'nodes' | 'cloudProviderEmulator' | 'cloudProvider'> {
  name: string;
}

interface Shape {
  /** Nodes are machines, and no instances of a cloud. */
  machines: boolean;
  /** The machines that the control plane is on; absent where it is on this one. */
  controlPlanes: readonly string[] | undefined;
}

/** Throws a sentence where the cluster cannot have it. */
export async function emulatorOfStart(
  { cloudProviderEmulator: wanted, cloudProvider, nodes }: Start,
  before: ClusterSettings | undefined,
  { machines, controlPlanes }: Shape,
): Promise<EmulatorName | undefined> {
  if (wanted === undefined && before?.cloudEmulator === undefined) return undefined;
  if (machines) throw new Error('nodes that are machines are no instances of a cloud: --cloud-provider-emulator cannot be given');
  if (controlPlanes)
    throw new Error(
      'an emulator is a part of a control plane in one process: --cloud-provider-emulator goes without --control-planes and --layout pods',
    );
  const { emulatorOf } = await import('./emulation.ts');
  return emulatorOf(wanted, before, {
    nodes: nodes ?? before?.nodes.length ?? upDefaults.nodes,
    external: (cloudProvider ?? before?.cloudProvider) === 'external',
  });
}

/** The names of the nodes that a start asks for. An emulated vendor names its machines itself. */
export async function nodesOfStart(
  { name, nodes }: Start,
  before: ClusterSettings | undefined,
  emulator: EmulatorName | undefined,
): Promise<string[]> {
  if (nodes === undefined && before) return before.nodes;
  if (emulator === undefined) return nodeNames(name, nodes ?? upDefaults.nodes);
  return (await import('./emulation.ts')).vendorNodeNames(emulator, name, nodes ?? upDefaults.nodes);
}

/** Addresses of nodes where nothing is said of them and the vendor's machines always have public ones. */
export async function addressesOfStart(emulator: EmulatorName | undefined): Promise<{ nodeAddresses?: 'public' }> {
  if (emulator === undefined) return {};
  return (await (await import('./emulation.ts')).vendorPublicAddresses(emulator)) ? { nodeAddresses: 'public' } : {};
}
