// The older interfaces, Instances and Zones, in terms of the newer one. Managers ask them only of providers that have no InstancesV2; here they are for
// programs that were written for them.
import {
  type Instances,
  instanceNotFound,
  type InstancesV2,
  type Node,
  notImplemented,
  type Zone,
  type Zones,
} from 'sagong/cloud-provider';
import { zoneIdLabel } from './instances-v2.ts';
import { providerName } from './provider-id.ts';
import { networkNodeLabel } from './topology.ts';

/** Nothing of labels is asked for a Node that has these. */
const labels = { [zoneIdLabel]: '', [networkNodeLabel(1)]: '' };
const named = (name: string): Node => ({ metadata: { name, labels } });
const withId = (providerID: string): Node => ({ metadata: { name: '', labels }, spec: { providerID } });

/** Both, over `v2`. Every question may be answered with `instanceNotFound`. */
export function olderInterfaces(v2: InstancesV2): { instances: Instances; zones: Zones } {
  const metadataOf = async (node: Node) => {
    const metadata = await v2.instanceMetadata(node);
    if (!metadata) throw instanceNotFound();
    return metadata;
  };
  const zoneOf = async (node: Node): Promise<Zone> => {
    const { zone = '', region = '' } = await metadataOf(node);
    return { failureDomain: zone, region };
  };
  return {
    instances: {
      nodeAddresses: async (name) => (await metadataOf(named(name))).nodeAddresses,
      nodeAddressesByProviderId: async (id) => (await metadataOf(withId(id))).nodeAddresses,
      // As upstream with the zone, and a slash in front: the host of the provider ID's URL is empty.
      instanceId: async (name) => ((await metadataOf(named(name))).providerId ?? '').slice(`${providerName}://`.length),
      instanceType: async (name) => (await metadataOf(named(name))).instanceType ?? '',
      instanceTypeByProviderId: async (id) => (await metadataOf(withId(id))).instanceType ?? '',
      addSshKeyToAllInstances: () => Promise.reject(notImplemented()),
      currentNodeName: () => Promise.reject(notImplemented()),
      instanceExistsByProviderId: (id) => v2.instanceExists(withId(id)),
      instanceShutdownByProviderId: (id) => v2.instanceShutdown(withId(id)),
    },
    zones: {
      // The manager may run anywhere.
      getZone: () => Promise.reject(notImplemented()),
      getZoneByProviderId: (id) => zoneOf(withId(id)),
      getZoneByNodeName: (name) => zoneOf(named(name)),
    },
  };
}
