// Nodes and their instances (cloud-provider-baiducloud instances.go, zones.go).
import { instanceNotFound, type InstancesV2, type Node, type NodeAddress } from 'sagong/cloud-provider';
import type { Instance } from '../api/types.ts';
import { formatProviderId } from '../names.ts';
import type { Finder } from './finder.ts';

/** https://cloud.baidu.com/doc/BCC/s/yjwvyoe0s, InstanceStatus. An expired instance is stopped until it is paid for. */
const shutDown = ['Stopped', 'Stopping', 'Expired'];

function addressesOf({ internalIp, publicIp, ipv6 }: Instance): NodeAddress[] {
  const of = (type: string, address: string | undefined): NodeAddress[] => (address ? [{ type, address }] : []);
  // Upstream's Nodes are called after their address.
  return [
    ...of('InternalIP', internalIp),
    ...of('InternalIP', ipv6),
    ...of('ExternalIP', publicIp),
    ...of('Hostname', internalIp),
  ];
}

export function createInstances({ finder, region }: { finder: Finder; region: string }): InstancesV2 {
  async function must(node: Node, find: Finder['ofNode'], signal?: AbortSignal): Promise<Instance> {
    const instance = await find(node, signal);
    if (!instance) throw instanceNotFound();
    return instance;
  }
  return {
    instanceExists: async (node, signal) => (await finder.asItIs(node, signal)) !== undefined,
    instanceShutdown: async (node, signal) => shutDown.includes((await must(node, finder.asItIs, signal)).status),
    async instanceMetadata(node, signal) {
      const instance = await must(node, finder.ofNode, signal);
      const nodeAddresses = addressesOf(instance);
      if (nodeAddresses.length === 0) throw new Error(`instance ${instance.id} has no IP addresses`);
      return {
        providerId: formatProviderId(instance.id),
        instanceType: instance.gpuCard ? 'GPU' : 'BCC',
        nodeAddresses,
        zone: instance.zoneName,
        region,
      };
    },
  };
}
