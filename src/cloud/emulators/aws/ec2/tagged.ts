// Everything that has tags, with EC2's word for its kind.
import { listAll } from '../../../client/index.ts';
import type { Account } from '../account.ts';

export interface Tagged {
  id: string;
  type: string;
  tags: Readonly<Record<string, string>>;
}

export async function collectAll({ cloud }: Account): Promise<Tagged[]> {
  const kinds = await Promise.all([
    listAll((page) => cloud.listInstances(page)).then((items) => ['instance', items] as const),
    listAll((page) => cloud.listVpcs(page)).then((items) => ['vpc', items] as const),
    listAll((page) => cloud.listSubnets(page)).then((items) => ['subnet', items] as const),
    listAll((page) => cloud.listRouteTables(page)).then((items) => ['route-table', items] as const),
    listAll((page) => cloud.listSecurityGroups(page)).then((items) => ['security-group', items] as const),
    listAll((page) => cloud.listInterfaces(page)).then((items) => ['network-interface', items] as const),
  ]);
  return kinds.flatMap(([type, items]) => items.map(({ id, tags }) => ({ id, type, tags })));
}
