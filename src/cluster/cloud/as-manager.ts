// The cloud to the service that manages control planes. A service sees the resources of all accounts, and those of its customers have what names and tags
// their owners like: what it looks up to use is what it manages itself, or somebody else would decide where the control plane is.
import type { CallOptions, CloudClient } from '#cloud/client';
import { listAll } from '#cloud/client';

interface Managed {
  ownerId: string;
  requesterManaged?: boolean | undefined;
  requesterId?: string | undefined;
}

const lists = [
  'listVpcs',
  'listSubnets',
  'listRouteTables',
  'listSecurityGroups',
  'listInterfaces',
  'listInstances',
  'listAddresses',
  'listLoadBalancers',
  'listDnsZones',
] as const;
type List = (query: object, options?: CallOptions) => Promise<{ items: Managed[]; nextToken?: string }>;

/** A client whose lists are of what `account` manages: its own resources, and interfaces that it has in others' networks. */
export function asManager(client: CloudClient, account: string): CloudClient {
  const isOwn = ({ ownerId, requesterManaged, requesterId }: Managed): boolean =>
    (requesterManaged ? requesterId : ownerId) === account;
  const own = lists.map((id): [string, List] => [
    id,
    async (query, options) => {
      const all = await listAll((page) => (client[id] as unknown as List)({ ...query, ...page }, options));
      return { items: all.filter(isOwn) };
    },
  ]);
  return { ...client, ...(Object.fromEntries(own) as unknown as Pick<CloudClient, (typeof lists)[number]>) };
}
