// The Linode behind a Node: from a list that is kept for a few seconds, and from the API itself before anything is concluded from what the list
// does not show.
import type { Clock, Node } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ApiClient } from '../api/client.ts';
import { linodeApi } from '../api/linode.ts';
import type { Linode } from '../api/types.ts';
import { linodeIdOf } from '../names.ts';

export interface Finder {
  /** The Linode behind a Node, or undefined. Throws for a Node of another cloud. */
  ofNode(node: Node, signal?: AbortSignal): Promise<Linode | undefined>;
  /** The Linode behind a Node as it is now: a Node may be deleted for what this says. */
  asItIs(node: Node, signal?: AbortSignal): Promise<Linode | undefined>;
  exists(id: number, signal?: AbortSignal): Promise<boolean>;
  all(signal?: AbortSignal): Promise<readonly Linode[]>;
  /** Somebody met a Linode that does not exist any more, or one that is not in the list. */
  forget(): void;
}

export interface FinderDeps {
  client: ApiClient;
  clock: Clock;
  ttlMs: number;
  /** '': all Linodes of the account. */
  tagFilter: string;
  isPrivate(address: string): boolean;
}

interface Listed {
  byId: ReadonlyMap<number, Linode>;
  byPublicAddress: ReadonlyMap<string, Linode>;
}

export function createFinder({ client, clock, ttlMs, tagFilter, isPrivate }: FinderDeps): Finder {
  const filter = tagFilter === '' ? undefined : { tags: { '+contains': tagFilter } };
  const lists = createCache({
    clock,
    ttlMs,
    async read(_key, signal): Promise<Listed> {
      const all = await linodeApi(client, signal).linodes(filter);
      const addresses = all.flatMap((linode) =>
        linode.ipv4.filter((address) => !isPrivate(address)).map((address): [string, Linode] => [address, linode]),
      );
      return {
        byId: new Map(all.map((linode) => [linode.id, linode])),
        byPublicAddress: new Map(addresses),
      };
    },
  });
  const list = (signal?: AbortSignal): Promise<Listed> => lists.get('', signal);

  async function byName(node: Node, signal?: AbortSignal): Promise<Linode | undefined> {
    const { name = '' } = node.metadata;
    // Labels are unique in an account.
    const [named] = (await linodeApi(client, signal).linodes({ ...filter, label: name })).filter(({ label }) => label === name);
    if (named) return named;
    const { byPublicAddress } = await list(signal);
    const addresses = (node.status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP' || type === 'InternalIP');
    return addresses.map(({ address }) => byPublicAddress.get(address)).find((linode) => linode !== undefined);
  }
  async function ofNode(node: Node, signal?: AbortSignal): Promise<Linode | undefined> {
    const id = linodeIdOf(node);
    if (id === undefined) return byName(node, signal);
    return (await list(signal)).byId.get(id) ?? linodeApi(client, signal).linode(id);
  }
  return {
    ofNode,
    async asItIs(node, signal) {
      const id = linodeIdOf(node);
      return id === undefined ? byName(node, signal) : linodeApi(client, signal).linode(id);
    },
    exists: async (id, signal) => (await linodeApi(client, signal).linode(id)) !== undefined,
    all: async (signal) => [...(await list(signal)).byId.values()],
    forget: () => lists.forget(),
  };
}
