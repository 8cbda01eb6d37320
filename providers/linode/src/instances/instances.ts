// Nodes and their Linodes.
import { instanceNotFound, type InstancesV2 } from 'sagong/cloud-provider';
import { formatProviderId } from '../names.ts';
import type { Vpcs } from '../vpcs.ts';
import { addressesOf, shownAddresses } from './addresses.ts';
import type { Finder } from './finder.ts';

/** https://techdocs.akamai.com/linode-api/reference/get-linode-instance, `status`. */
const shutDown = ['offline', 'shutting_down', 'stopped'];

export interface InstancesDeps {
  finder: Finder;
  vpcs: Vpcs;
  isPrivate(address: string): boolean;
}

export const createInstances = ({ finder, vpcs, isPrivate }: InstancesDeps): InstancesV2 => {
  async function vpcIpsOf(id: number, signal?: AbortSignal) {
    if (!vpcs.inUse) return [];
    for (let tries = 0; tries < 2; tries++) {
      const own = (await vpcs.ips(signal)).filter((ip) => ip.linode_id === id);
      if (own.length > 0) return own;
      // The list may be older than the Linode.
      vpcs.forget();
    }
    throw new Error(`Linode ${id} has no interface in the VPCs and subnets of the cluster`);
  }
  return {
    instanceExists: async (node, signal) => (await finder.asItIs(node, signal)) !== undefined,
    async instanceShutdown(node, signal) {
      const linode = await finder.asItIs(node, signal);
      if (!linode) throw instanceNotFound();
      return shutDown.includes(linode.status);
    },
    async instanceMetadata(node, signal) {
      const linode = await finder.ofNode(node, signal);
      if (!linode) throw instanceNotFound();
      const addresses = addressesOf(linode, await vpcIpsOf(linode.id, signal), isPrivate);
      if (addresses.length === 0) throw new Error(`instance ${linode.id} has no IP addresses`);
      return {
        providerId: formatProviderId(linode.id),
        instanceType: linode.type ?? '',
        nodeAddresses: shownAddresses(linode.label, addresses, node),
        region: linode.region,
      };
    },
  };
};
