// Nodes and their instances.
import { instanceNotFound, type InstancesV2 } from 'sagong/cloud-provider';
import { nameIn, regionOf } from '../links.ts';
import type { Settings } from '../settings.ts';
import { nodeAddresses } from './addresses.ts';
import type { InstanceFinder } from './finder.ts';
import { formatProviderId } from './provider-id.ts';

/** https://cloud.google.com/compute/docs/instances/instance-lifecycle: TERMINATED is an instance that is stopped. */
const shutDown = ['TERMINATED', 'STOPPED', 'SUSPENDED'];

export const createInstances = (finder: InstanceFinder, { preferIpv6 }: Settings): InstancesV2 => ({
  instanceExists: async (node, signal) => (await finder.ofNode(node, signal)) !== undefined,
  async instanceShutdown(node, signal) {
    const found = await finder.ofNode(node, signal);
    if (!found) throw instanceNotFound();
    return shutDown.includes(found.instance.status ?? '');
  },
  async instanceMetadata(node, signal) {
    const found = await finder.ofNode(node, signal);
    if (!found) throw instanceNotFound();
    const { id, instance } = found;
    return {
      providerId: node.spec?.providerID || formatProviderId(id),
      instanceType: nameIn(instance.machineType),
      nodeAddresses: nodeAddresses(instance, preferIpv6),
      zone: id.zone,
      region: regionOf(id.zone),
    };
  },
});
