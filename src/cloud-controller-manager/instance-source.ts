// One way to ask about machines, whichever interface the provider offers (k8s.io/cloud-provider controllers/node getInstanceMetadata and
// getInstanceNodeAddresses, controllers/nodelifecycle ensureNodeExistsByProviderID and shutdownInCloudProvider).
import type { Node, NodeAddress } from '#api/core/v1';
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

export interface InstanceSource extends Pick<InstancesV2, 'instanceExists' | 'instanceShutdown' | 'instanceMetadata'> {
  /** A Node without a provider ID is not initialised; false for the older interface, which may know machines by name only. */
  readonly needsProviderId: boolean;
  /** Only the addresses, where the cloud can be asked for them alone. Undefined: not yet known. */
  nodeAddresses(node: Node, signal?: AbortSignal): Promise<NodeAddress[] | undefined>;
}

/** Looks the instance up by provider ID, and by name when that fails. `told` is upstream's text for both failures. */
async function either<T>(
  node: Node,
  providerId: string,
  byId: (id: string) => Promise<T>,
  byName: (name: string) => Promise<T>,
  told: (byId: string, byName: string) => string,
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
    throw new Error(told(textOf(first), textOf(error)), { cause: error });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The Node's own, else the cloud's. Rejects when there is no machine, and when the cloud has no such IDs. */
const providerIdOfNode = async (instances: Instances, provider: string, { metadata, spec }: Node): Promise<string> =>
  spec?.providerID || providerIdOf(provider, await instances.instanceId(metadata.name ?? ''));

const addressesTold = (byId: string, byName: string): string =>
  `error fetching node by provider ID: ${byId}, and error by node name: ${byName}`;
const told =
  (what: string) =>
  (byId: string, byName: string): string =>
    `${what}: Error fetching by providerID: ${byId} Error fetching by NodeName: ${byName}`;

function overInstances(instances: Instances, zones: Zones | undefined, provider: string): InstanceSource {
  const idToAsk = (node: Node): Promise<string> => providerIdOfNode(instances, provider, node);
  /** Here, and for the metadata, the name alone will do. */
  const idIfAny = (node: Node): Promise<string> =>
    idToAsk(node).catch((error: unknown) => {
      if (isNotImplemented(error)) return '';
      throw error;
    });
  const addressesOf = (node: Node, providerId: string): Promise<NodeAddress[]> =>
    either(
      node,
      providerId,
      (id) => instances.nodeAddressesByProviderId(id),
      (name) => instances.nodeAddresses(name),
      addressesTold,
    );
  return {
    needsProviderId: false,
    nodeAddresses: async (node) => addressesOf(node, await idIfAny(node)),
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
      const providerId = await idIfAny(node);
      const name = node.metadata.name ?? '';
      const nodeAddresses = await addressesOf(node, providerId);
      const instanceType = await either(
        node,
        providerId,
        (id) => instances.instanceTypeByProviderId(id),
        () => instances.instanceType(name),
        told('InstanceType'),
      );
      const zone: Zone | undefined = zones
        ? await either(
            node,
            providerId,
            (id) => zones.getZoneByProviderId(id),
            () => zones.getZoneByNodeName(name),
            told('failed to get zone from cloud provider: Zone'),
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
  const { instancesV2: v2 } = cloud;
  if (v2)
    return {
      needsProviderId: true,
      nodeAddresses: async (node, signal) => (await v2.instanceMetadata(node, signal))?.nodeAddresses,
      instanceExists: (node, signal) => v2.instanceExists(node, signal),
      instanceShutdown: (node, signal) => v2.instanceShutdown(node, signal),
      instanceMetadata: (node, signal) => v2.instanceMetadata(node, signal),
    };
  return cloud.instances && overInstances(cloud.instances, cloud.zones, provider);
}
