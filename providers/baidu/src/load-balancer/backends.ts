// Nodes as the backend servers of a load balancer.
import type { Node } from 'sagong/cloud-provider';
import { isAbsent } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';
import { backendsOfRequestMax, backendWeight } from '../limits.ts';
import { instanceOf } from '../names.ts';
import type { BalancerPlan } from './plan.ts';

const isWanted = ({ metadata }: Node, labels: BalancerPlan['backendLabels']): boolean =>
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);

/** The instances of Nodes, by the Nodes' names. Nodes without one, and those of other clouds, are left out with a warning. */
async function instancesOf(cloud: Cloud, nodes: readonly Node[]): Promise<string[]> {
  const found: string[] = [];
  const without: string[] = [];
  for (const node of nodes.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)))
    try {
      const id = instanceOf(node) ?? (await cloud.finder.ofNode(node, cloud.signal))?.id;
      if (id === undefined) without.push(node.metadata.name ?? '');
      else found.push(id);
    } catch (error) {
      if (node.spec?.providerID?.startsWith('cce://') !== false) throw error;
      without.push(node.metadata.name ?? '');
    }
  if (without.length > 0)
    cloud.logger.warn('nodes without an instance are no backends', { nodes: without.slice(0, 5).join(', ') });
  return [...new Set(found)];
}

/** Which candidates serve: where there are more nodes than a load balancer may have, those that serve already stay. */
function chosenOf(candidates: readonly string[], there: readonly string[], max: number): string[] {
  if (candidates.length <= max) return [...candidates];
  const serving = candidates.filter((id) => there.includes(id));
  return [...serving, ...candidates.filter((id) => !there.includes(id))].slice(0, max);
}

const portions = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / backendsOfRequestMax) }, (_, index) =>
    items.slice(index * backendsOfRequestMax, (index + 1) * backendsOfRequestMax),
  );

async function bringInLine(cloud: Cloud, balancer: string, plan: BalancerPlan, candidates: readonly string[]): Promise<void> {
  const { api } = cloud;
  const there = await api.backends(balancer);
  const ids = there.map(({ instanceId }) => instanceId);
  const wanted = chosenOf(candidates, ids, plan.backendsMax);
  const surplus = ids.filter((id) => !wanted.includes(id));
  const weighted = (some: readonly string[]) => some.map((instanceId) => ({ instanceId, weight: backendWeight }));
  // First those that go: there is a bound of all together.
  for (const portion of portions(surplus)) await api.removeBackends(balancer, portion);
  for (const portion of portions(wanted.filter((id) => !ids.includes(id)))) await api.addBackends(balancer, weighted(portion));
  const wrong = there.filter(({ instanceId, weight }) => wanted.includes(instanceId) && weight !== backendWeight);
  for (const portion of portions(wrong))
    await api.updateBackends(balancer, weighted(portion.map(({ instanceId }) => instanceId)));
}

/** Exactly the instances of these nodes. When the API does not know one, it may be gone since, and the others are tried. */
export async function ensureBackends(cloud: Cloud, balancer: string, plan: BalancerPlan, nodes: readonly Node[]): Promise<void> {
  const candidates = await instancesOf(
    cloud,
    nodes.filter((node) => isWanted(node, plan.backendLabels)),
  );
  try {
    await bringInLine(cloud, balancer, plan, candidates);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    cloud.finder.forget();
    const living = new Set((await cloud.finder.all(cloud.signal)).map(({ id }) => id));
    const left = candidates.filter((id) => living.has(id));
    if (left.length === candidates.length) throw error;
    await bringInLine(cloud, balancer, plan, left);
  }
}

export async function removeBackends({ api }: Cloud, balancer: string): Promise<void> {
  const ids = (await api.backends(balancer)).map(({ instanceId }) => instanceId);
  for (const portion of portions(ids)) await api.removeBackends(balancer, portion);
}
