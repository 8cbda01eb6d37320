// Whether another machine has the name under which this one joins: two kubelets of one name would write the same Node, in turns.
import type { Node } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import { nodesResource } from './node-client.ts';

/**
 * Rejects, in kubeadm's words, where another machine's Node has the name. `own` is the address of a machine whose earlier Node may have it; absent
 * where it has no such Node.
 */
export async function assertNameFree(client: KubeClient, name: string, own?: string): Promise<void> {
  const node = await client
    .resource<Node>(nodesResource)
    .get(name)
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw new Error(`cannot get Node ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });
    });
  const { conditions = [], addresses = [] } = node?.status ?? {};
  if (!conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
  if (own !== undefined && addresses.some(({ address }) => address === own)) return;
  throw new Error(
    `a Node with name ${JSON.stringify(name)} and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node (--node-name)`,
  );
}

/** Another machine of the cluster has the name of this one. */
export class NameTakenError extends Error {
  override name = 'NameTakenError';
}

/**
 * Throws where the Node of this machine is kept by another one, which joined in the same moment under the same name: neither saw a Node of the other when it
 * looked.
 */
export function assertOwnNode({ status }: Node, { nodeName, nodeIp }: { nodeName: string; nodeIp: string }): void {
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
  if (addresses.length === 0 || addresses.includes(nodeIp)) return;
  throw new NameTakenError(
    `the machine at ${addresses.join(', ')} has joined at the same time as the node ${nodeName}; choose another name with --node-name`,
  );
}
