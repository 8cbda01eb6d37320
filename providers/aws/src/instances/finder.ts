// The instance of a Node, asked for together with other Nodes' instances. Names of Nodes follow from the instance (its id, its private DNS name),
// or the cluster's own record of the Node tells the provider ID.
import type { Instance } from '@aws-sdk/client-ec2';
import { type Clock, instanceNotFound, type Node } from 'sagong/cloud-provider';
import type { Api } from '../clients.ts';
import { hasCode } from '../errors.ts';
import { instanceIdsMax, nodeNamesMax } from '../limits.ts';
import type { ClusterTags } from '../tags.ts';
import { createBatcher } from './batcher.ts';
import { instancesById, instancesByName } from './describe.ts';
import { instanceIdOfNodeName, instanceIdOfProviderId } from './provider-id.ts';

/** The Nodes of the cluster as the manager's cache has them. */
export interface KnownNodes {
  get(name: string): Node | undefined;
  list(): Node[];
}

export interface InstanceFinder {
  /** The instance with this ID; undefined where AWS knows no such instance. */
  byId(id: string): Promise<Instance | undefined>;
  /** Throws when several instances have this name. */
  byNodeName(name: string): Promise<Instance | undefined>;
  /** As `byNodeName`; throws `instanceNotFound`. */
  ofNode(name: string): Promise<Instance>;
  /** What the Nodes of these instances are called: as the cluster knows them, else by their private DNS name. By id. */
  nodeNames(instances: readonly Instance[]): Map<string, string>;
}

const unknownInstance = ['InvalidInstanceID.NotFound'];
const unusableInstance = [...unknownInstance, 'InvalidInstanceID.Malformed', 'InvalidID'];

export function createInstanceFinder(api: Api, cluster: ClusterTags, clock: Clock, nodes: () => KnownNodes): InstanceFinder {
  const ask = createBatcher<Instance>({
    clock,
    sizeMax: instanceIdsMax,
    ask: (ids) => instancesById(api, ids),
    failsAlone: (error) => hasCode(error, ...unusableInstance),
  });
  const askName = createBatcher<Instance[]>({
    clock,
    sizeMax: nodeNamesMax,
    ask: (names) => instancesByName(api, cluster, names),
    failsAlone: () => false,
  });

  const byId = (id: string): Promise<Instance | undefined> =>
    ask(id).catch((error: unknown) => {
      if (!hasCode(error, ...unknownInstance)) throw error;
      return undefined;
    });
  async function byNodeName(name: string): Promise<Instance | undefined> {
    const id = instanceIdOfNodeName(name);
    if (id !== undefined) return byId(id);
    const providerId = nodes().get(name)?.spec?.providerID;
    if (providerId) return byId(instanceIdOfProviderId(providerId));
    const found = (await askName(name)) ?? [];
    if (found.length > 1) throw new Error(`multiple instances found for name: ${name}`);
    return found[0];
  }
  return {
    byId,
    byNodeName,
    async ofNode(name) {
      const found = await byNodeName(name);
      if (!found) throw instanceNotFound();
      return found;
    },
    nodeNames(instances) {
      const known = new Map(
        nodes()
          .list()
          .map(({ metadata, spec }) => [spec?.providerID?.split('/').at(-1) ?? '', metadata.name ?? ''] as const),
      );
      return new Map(
        instances.map(({ InstanceId = '', PrivateDnsName = '' }) => [InstanceId, known.get(InstanceId) ?? PrivateDnsName]),
      );
    },
  };
}
