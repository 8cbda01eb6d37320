// Tells kubelets how long they may cache secrets and config maps, by the size of the cluster (pkg/controller/ttl).
import type { Node } from '#api/core/v1';
import { defineController, ownKey, watch } from '#controller-runtime';
import { mergePatch, nodes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const annotation = 'node.alpha.kubernetes.io/ttl';

/** Steps overlap, so that a cluster at their edge does not go back and forth. */
const steps = [
  { sizeMin: 0, sizeMax: 100, ttlSeconds: 0 },
  { sizeMin: 90, sizeMax: 500, ttlSeconds: 15 },
  { sizeMin: 450, sizeMax: 1000, ttlSeconds: 30 },
  { sizeMin: 900, sizeMax: 2000, ttlSeconds: 60 },
  { sizeMin: 1800, sizeMax: Number.POSITIVE_INFINITY, ttlSeconds: 300 },
];

/** Seconds for a cluster of `count` nodes whose nodes now have `current`. */
export function ttlSeconds(count: number, current: number | undefined): number {
  const fitting = steps.filter(({ sizeMin, sizeMax }) => count >= sizeMin && count <= sizeMax);
  return (fitting.find((step) => step.ttlSeconds === current) ?? fitting[0])?.ttlSeconds ?? 0;
}

export const ttlController = defineController({
  name: 'ttl-controller',
  aliases: ['ttl'],
  for: nodes,
  rights: [allow('list,patch,update,watch', 'core', 'nodes'), recordEvents],
  watches: [watch<Node>({ resource: nodes, keys: (node) => ownKey(node) })],
  view: (key, cache) => ({ node: cache.get<Node>(nodes, '', key), count: cache.list<Node>(nodes).length }),
  reconcile({ node, count }) {
    if (!node) return { effects: [] };
    const text = node.metadata.annotations?.[annotation];
    const wanted = ttlSeconds(count, text === undefined ? undefined : Number(text));
    if (text === String(wanted)) return { effects: [] };
    return {
      effects: [mergePatch(nodes, node, { metadata: { annotations: { [annotation]: String(wanted) } } })],
      because: `With ${count} nodes, kubelets may keep what they read for ${wanted} s.`,
    };
  },
});
