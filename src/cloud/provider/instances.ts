// Instances behind Nodes. A provider ID is `local://<zone>/<instance id>`.
import {
  type InstanceMetadata,
  instanceIdOf,
  instanceNotFound,
  type InstancesV2,
  type Node,
  providerIdOf,
} from '#cloud-provider';
import { listAll } from '../client/index.ts';
import type { Instance } from '../model/index.ts';
import type { ProviderContext } from './account.ts';
import { labelTagPrefix } from './annotations.ts';
import { orMissing, told } from './errors.ts';

export const providerName = 'local';

const providerId = ({ zone, id }: Instance): string => providerIdOf(providerName, `${zone}/${id}`);
/** The instance id in a Node's provider ID; undefined: it has none of ours. */
export function instanceIdOfNode({ spec }: Node): string | undefined {
  const own = instanceIdOf(providerName, spec?.providerID);
  return own?.slice(own.lastIndexOf('/') + 1);
}

/** Several may have had the name: the one that is not gone, of these the newest. */
const chosen = (instances: readonly Instance[]): Instance | undefined =>
  instances
    .filter(({ state }) => state !== 'terminated')
    .toSorted(
      (a, b) => Number(a.state === 'shutting-down') - Number(b.state === 'shutting-down') || (a.createdAt < b.createdAt ? 1 : -1),
    )[0];

export async function instanceOfNode(
  { api, config: { vpcId } }: ProviderContext,
  node: Node,
  signal: AbortSignal | undefined,
): Promise<Instance | undefined> {
  if (node.spec?.providerID) {
    const instanceId = instanceIdOfNode(node);
    return instanceId === undefined ? undefined : orMissing(api.getInstance({ instanceId }, { signal }));
  }
  const name = node.metadata.name ?? '';
  if (name === '') return undefined;
  const byName = chosen((await api.listInstances({ vpcId, name }, { signal })).items);
  return byName ?? chosen((await api.listInstances({ vpcId, privateDnsName: name }, { signal })).items);
}

/** All instances in the network of the cluster. */
export const instancesOfNetwork = (
  { api, config: { vpcId } }: ProviderContext,
  signal: AbortSignal | undefined,
): Promise<Instance[]> => listAll((page) => api.listInstances({ vpcId, ...page }, { signal }));

function metadataOf(instance: Instance): InstanceMetadata {
  const { name, type, zone, region, privateAddress, publicAddress, privateDnsName, tags } = instance;
  const labels = Object.entries(tags).filter(([key]) => key.startsWith(labelTagPrefix) && key.length > labelTagPrefix.length);
  return {
    providerId: providerId(instance),
    instanceType: type,
    zone,
    region,
    nodeAddresses: [
      { type: 'InternalIP', address: privateAddress },
      ...(publicAddress === undefined ? [] : [{ type: 'ExternalIP', address: publicAddress }]),
      { type: 'InternalDNS', address: privateDnsName },
      { type: 'Hostname', address: name },
    ],
    ...(labels.length > 0 && {
      additionalLabels: Object.fromEntries(labels.map(([key, value]) => [key.slice(labelTagPrefix.length), value])),
    }),
  };
}

export const localInstances = (context: ProviderContext): InstancesV2 => ({
  instanceExists: (node, signal) =>
    told(async () => {
      const instance = await instanceOfNode(context, node, signal);
      return instance !== undefined && instance.state !== 'terminated';
    }),
  instanceShutdown: (node, signal) =>
    told(async () => {
      const instance = await instanceOfNode(context, node, signal);
      if (!instance || instance.state === 'terminated') throw instanceNotFound();
      return instance.state === 'stopped';
    }),
  instanceMetadata: (node, signal) =>
    told(async () => {
      const instance = await instanceOfNode(context, node, signal);
      if (!instance || instance.state === 'terminated') throw instanceNotFound();
      return metadataOf(instance);
    }),
});
