// Nodes whose resources would be used evenly, or more evenly than now (upstream plugins/noderesources BalancedAllocation).
import { amountOf, isScalarResource, maxNodeScore, type NodeInfo, type Plugin, type PodInfo } from '../../framework/index.ts';
import type { NodeResourcesBalancedAllocationArgs } from './args.ts';

const defaults = [{ name: 'cpu' }, { name: 'memory' }];

/** 100 when every resource is used to the same part; `extra` is what would come on top. */
function evenness(node: NodeInfo, names: readonly string[], wanted: readonly number[], withPod: boolean): number {
  let sum = 0;
  let squares = 0;
  let count = 0;
  let first = 0;
  let second = 0;
  const parts: number[] = [];
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const extra = wanted[i] as number;
    const capacity = extra === 0 && isScalarResource(name) ? 0 : amountOf(node.allocatable, name);
    if (capacity === 0) continue;
    const part = Math.min(1, (amountOf(node.requested, name) + (withPod ? extra : 0)) / capacity);
    if (count === 0) first = part;
    else if (count === 1) second = part;
    sum += part;
    count++;
    if (names.length > 2) parts.push(part);
  }
  let deviation = 0;
  if (count === 2) deviation = Math.abs((first - second) / 2);
  else if (count > 2) {
    const mean = sum / count;
    for (const part of parts) squares += (part - mean) * (part - mean);
    deviation = Math.sqrt(squares / count);
  }
  return Math.trunc((1 - deviation) * maxNodeScore);
}

const half = maxNodeScore / 2;

export function nodeResourcesBalancedAllocation({
  resources = defaults,
}: NodeResourcesBalancedAllocationArgs = {}): Plugin<unknown, readonly number[]> {
  const names = resources.map(({ name }) => name);
  const wantedBy = (pod: PodInfo): number[] => names.map((name) => amountOf(pod.requests, name));
  return {
    name: 'NodeResourcesBalancedAllocation',
    local: true,
    preScore({ pod }) {
      const wanted = wantedBy(pod);
      return wanted.every((amount) => amount === 0) ? { skip: true } : { state: wanted };
    },
    score: (wanted, node) =>
      half + Math.trunc((half + evenness(node, names, wanted, true) - evenness(node, names, wanted, false)) / 2),
  };
}
