// The instance behind a Node: from a list that is kept for a few seconds, and from the API itself before anything is concluded from what the list
// does not show.
import type { Clock, Node } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import { baiduApi } from '../api/baidu.ts';
import type { ApiClient } from '../api/client.ts';
import type { Instance } from '../api/types.ts';
import { instancesTtlMs } from '../limits.ts';
import { instanceOf } from '../names.ts';

export interface Finder {
  /** The instance behind a Node, or undefined. Throws for a Node of another cloud. */
  ofNode(node: Node, signal?: AbortSignal): Promise<Instance | undefined>;
  /** The instance behind a Node as it is now: a Node may be deleted for what this says. */
  asItIs(node: Node, signal?: AbortSignal): Promise<Instance | undefined>;
  all(signal?: AbortSignal): Promise<readonly Instance[]>;
  /** The VPC of the cluster. */
  vpcId(signal?: AbortSignal): Promise<string>;
  /** Forgets the list: somebody met an instance that does not exist any more, or one that is not in it. */
  forget(): void;
}

export interface FinderDeps {
  client: ApiClient;
  clock: Clock;
  vpcId: string | undefined;
  masterId: string | undefined;
}

/** https://cloud.baidu.com/doc/BCC/s/yjwvyoe0s, InstanceStatus: what is left of an instance that was released. */
const gone = ['Deleted', 'Recycled'];
const living = (instance: Instance | undefined): Instance | undefined =>
  instance && !gone.includes(instance.status) ? instance : undefined;

export function createFinder({ client, clock, vpcId: givenVpc, masterId }: FinderDeps): Finder {
  let ofMaster: string | undefined;
  async function vpcId(signal?: AbortSignal): Promise<string> {
    const known = givenVpc ?? ofMaster;
    if (known !== undefined) return known;
    const master = await baiduApi(client, signal).instance(masterId ?? '');
    if (!master) throw new Error(`cloud-config: there is no instance ${masterId}, which MasterId names`);
    return (ofMaster = master.vpcId);
  }
  const lists = createCache({
    clock,
    ttlMs: instancesTtlMs,
    read: async (_key, signal) => {
      const all = await baiduApi(client, signal).instances({ vpcId: await vpcId(signal) });
      return all.filter((one) => living(one));
    },
  });
  const listed = (signal?: AbortSignal): Promise<readonly Instance[]> => lists.get('', signal);

  /** The instance that a Node is called after: by its host name, else its name, else its address, as Nodes of CCE are. */
  function named(all: readonly Instance[], name: string): Instance | undefined {
    for (const of of [(one: Instance) => one.hostname, (one: Instance) => one.name, (one: Instance) => one.internalIp]) {
      const found = all.filter((one) => of(one) === name);
      if (found.length > 1) throw new Error(`several instances are called ${name}: ${found.map(({ id }) => id).join(', ')}`);
      if (found[0]) return found[0];
    }
    return undefined;
  }
  return {
    vpcId,
    all: listed,
    forget: () => lists.forget(),
    async ofNode(node, signal) {
      const id = instanceOf(node);
      const all = await listed(signal);
      const found = id === undefined ? named(all, node.metadata.name ?? '') : all.find((one) => one.id === id);
      if (found) return found;
      if (id !== undefined) return living(await baiduApi(client, signal).instance(id));
      lists.forget();
      return named(await listed(signal), node.metadata.name ?? '');
    },
    async asItIs(node, signal) {
      const id = instanceOf(node);
      if (id !== undefined) return living(await baiduApi(client, signal).instance(id));
      lists.forget();
      return named(await listed(signal), node.metadata.name ?? '');
    },
  };
}
