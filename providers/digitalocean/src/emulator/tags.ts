// /v2/tags. Load balancers can be tagged too: the reference leaves that out, the vendor's own manager does it.
import type { Account } from './account.ts';
import { notFound, Refusal, unprocessable } from './refusal.ts';
import { type Body, listIn } from './validate-load-balancer.ts';

const kinds: Readonly<Record<string, (account: Account, id: string) => boolean>> = {
  droplet: (account, id) => account.droplets.has(Number(id)),
  load_balancer: (account, id) => account.loadBalancers.has(id),
  image: () => false,
  volume: () => false,
  volume_snapshot: () => false,
};

export function shownTag(account: Account, name: string): Record<string, unknown> {
  const resources = account.tags.get(name);
  if (!resources) throw notFound();
  const droplets = [...resources].filter((resource) => resource.startsWith('droplet/')).length;
  return { name, resources: { count: resources.size, droplets: { count: droplets } } };
}

export function createTag(account: Account, body: Body): Record<string, unknown> {
  const { name } = body;
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_\-:]{1,255}$/.test(name)) throw new Refusal(400, 'invalid tag name');
  if (!account.tags.has(name)) account.tags.set(name, new Set());
  return shownTag(account, name);
}

export function tagResources(account: Account, name: string, body: Body): void {
  const resources = account.tags.get(name);
  if (!resources) throw notFound();
  const wanted = listIn(body, 'resources').map((value) => {
    const { resource_id: id, resource_type: type } = value as Body;
    const exists = kinds[String(type)];
    if (!exists) throw unprocessable(`resource_type ${String(type)} is invalid`);
    if (!exists(account, String(id))) throw notFound();
    return { id: String(id), type: String(type) };
  });
  for (const { id, type } of wanted) {
    resources.add(`${type}/${id}`);
    const balancer = type === 'load_balancer' ? account.loadBalancers.get(id) : undefined;
    if (balancer && !balancer.tags.includes(name)) balancer.tags.push(name);
  }
}
