// One way to ask about machines, whichever interface the provider offers (k8s.io/cloud-provider controllers/node getInstanceMetadata and
// getInstanceNodeAddresses, controllers/nodelifecycle ensureNodeExistsByProviderID and shutdownInCloudProvider).
import type { Node } from '#api/core/v1';
import {
  type CloudProvider,
  type InstanceMetadata,
  type Instances,
  type InstancesV2,
  isInstanceNotFound,
  isNotImplemented,
  providerIdOf,
  type Zone,
  type Zones,
} from '#cloud-provider';

export type InstanceSource = Pick<InstancesV2, 'instanceExists' | 'instanceShutdown' | 'instanceMetadata'>;

/** By provider ID, and by name when that fails. */
async function either<T>(
  what: string,
  node: Node,
  providerId: string,
  byId: (id: string) => Promise<T>,
  byName: (name: string) => Promise<T>,
): Promise<T> {
  let first: unknown;
  try {
    return await byId(providerId);
  } catch (error) {
    first = error;
  }
  try {
    return await byName(node.metadata.name ?? '');
  } catch (error) {
    throw new Error(`${what}: Error fetching by providerID: ${textOf(first)} Error fetching by NodeName: ${textOf(error)}`, {
      cause: error,
    });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** '' when neither the Node nor the cloud knows one, or there is no machine. */
async function providerIdOfNode(instances: Instances, provider: string, { metadata, spec }: Node): Promise<string> {
  if (spec?.providerID) return spec.providerID;
  try {
    return providerIdOf(provider, await instances.instanceId(metadata.name ?? ''));
  } catch (error) {
    if (isNotImplemented(error)) return '';
    throw error;
  }
}

function overInstances(instances: Instances, zones: Zones | undefined, provider: string): InstanceSource {
  const idToAsk = (node: Node): Promise<string> => providerIdOfNode(instances, provider, node);
  return {
    async instanceExists(node) {
      try {
        return await instances.instanceExistsByProviderId(await idToAsk(node));
      } catch (error) {
        if (isInstanceNotFound(error)) return false;
        throw error;
      }
    },
    async instanceShutdown(node) {
      try {
        return await instances.instanceShutdownByProviderId(await idToAsk(node));
      } catch (error) {
        if (isNotImplemented(error)) return false;
        throw error;
      }
    },
    async instanceMetadata(node): Promise<InstanceMetadata> {
      const providerId = await idToAsk(node);
      const name = node.metadata.name ?? '';
      const nodeAddresses = await either(
        'NodeAddresses',
        node,
        providerId,
        (id) => instances.nodeAddressesByProviderId(id),
        () => instances.nodeAddresses(name),
      );
      const instanceType = await either(
        'InstanceType',
        node,
        providerId,
        (id) => instances.instanceTypeByProviderId(id),
        () => instances.instanceType(name),
      );
      const zone: Zone | undefined = zones
        ? await either(
            'Zone',
            node,
            providerId,
            (id) => zones.getZoneByProviderId(id),
            () => zones.getZoneByNodeName(name),
          )
        : undefined;
      return {
        nodeAddresses,
        instanceType,
        ...(providerId && { providerId }),
        ...(zone && { zone: zone.failureDomain, region: zone.region }),
      };
    },
  };
}

/** How to ask about machines; undefined: the provider knows none. */
export function instanceSourceOf(cloud: CloudProvider, provider: string): InstanceSource | undefined {
  if (cloud.instancesV2) return cloud.instancesV2;
  return cloud.instances && overInstances(cloud.instances, cloud.zones, provider);
}
