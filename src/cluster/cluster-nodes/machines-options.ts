// The machines of a cluster's control plane, from its settings.
import { managedServer } from '../endpoint/managed-server.ts';
import { endpointAddress, secondEndpointAddress, vpcCidr } from '../cloud/network.ts';
import { clusterMark } from '../state/paths.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { clusterNetworks } from '../state/networks.ts';
import type { ControlPlaneMachinesOptions, ManagedMachines } from '../control-planes/machines.ts';

export const managedMachines = ({ dataDir, podCidr = clusterNetworks.podCidr }: ClusterSettings): ManagedMachines => ({
  endpoint: managedServer(clusterMark(dataDir)).host,
  interfaces: [endpointAddress, secondEndpointAddress],
  destinations: [vpcCidr, podCidr],
});

/** The options of the control plane's machines; undefined where it is on none. */
export function machinesOptions(settings: ClusterSettings, program: readonly string[]): ControlPlaneMachinesOptions | undefined {
  const { name: cluster, dataDir, controlPlanes: names, layout, topology } = settings;
  if (!names) return undefined;
  return { cluster, dataDir, names, program, layout, ...(topology === 'managed' && { managed: managedMachines(settings) }) };
}
