// The local cloud's lists, whole: what filters and descriptions look at.
import type { Instance, NetworkInterface, SecurityGroup } from '../../../model/index.ts';
import { listAll } from '../../../client/index.ts';
import type { Account } from '../account.ts';

export const allInstances = ({ cloud }: Account): Promise<Instance[]> => listAll((page) => cloud.listInstances(page));
export const allGroups = ({ cloud }: Account): Promise<SecurityGroup[]> => listAll((page) => cloud.listSecurityGroups(page));

/** Attached interfaces by the id of their instance, in the order of their index. */
export async function interfacesByInstance({ cloud }: Account): Promise<Map<string, NetworkInterface[]>> {
  const byInstance = new Map<string, NetworkInterface[]>();
  for (const item of await listAll((page) => cloud.listInterfaces(page))) {
    const { instanceId } = item.attachment ?? {};
    if (instanceId === undefined) continue;
    const others = byInstance.get(instanceId) ?? [];
    others.push(item);
    byInstance.set(instanceId, others);
  }
  for (const items of byInstance.values())
    items.sort((a, b) => (a.attachment?.deviceIndex ?? 0) - (b.attachment?.deviceIndex ?? 0));
  return byInstance;
}

/** Names of groups by their ids. */
export const groupNames = async (account: Account): Promise<Map<string, string>> =>
  new Map((await allGroups(account)).map(({ id, name }) => [id, name]));
