// How well a node's resources would be used, by strategy (upstream plugins/noderesources least_allocated, most_allocated,
// requested_to_capacity_ratio).
import { maxNodeScore } from '../../framework/index.ts';

export interface ResourceWeight {
  name: string;
  weight?: number;
}

export interface UtilizationPoint {
  /** How much of the resource is used, in percent, from 0 to 100. */
  utilization: number;
  /** 0 to 10. */
  score: number;
}

export interface ScoringStrategy {
  type?: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio';
  resources?: readonly ResourceWeight[];
  requestedToCapacityRatio?: { shape?: readonly UtilizationPoint[] };
}

/** Score of one resource: what would be requested, of how much (not 0). */
type ResourceScore = (requested: number, capacity: number) => number;

const least: ResourceScore = (requested, capacity) =>
  requested > capacity ? 0 : Math.trunc(((capacity - requested) * maxNodeScore) / capacity);

const most: ResourceScore = (requested, capacity) => Math.trunc((Math.min(requested, capacity) * maxNodeScore) / capacity);

const customScoreMax = 10;

/** Straight lines between the points, flat outside of them. */
function brokenLine(shape: readonly UtilizationPoint[]): (percent: number) => number {
  const points = shape.map(({ utilization, score }) => ({ x: utilization, y: score * (maxNodeScore / customScoreMax) }));
  return (percent) => {
    const next = points.findIndex(({ x }) => percent <= x);
    const right = points[next];
    if (right === undefined) return points.at(-1)?.y ?? 0;
    const left = points[next - 1];
    return left === undefined ? right.y : left.y + Math.trunc(((right.y - left.y) * (percent - left.x)) / (right.x - left.x));
  };
}

function ratio(shape: readonly UtilizationPoint[]): ResourceScore {
  const line = brokenLine(shape);
  return (requested, capacity) => line(requested > capacity ? 100 : Math.trunc((requested * 100) / capacity));
}

export interface Strategy {
  readonly resources: readonly { name: string; weight: number }[];
  /** `requested[i]` and `allocatable[i]` belong to `resources[i]`; an allocatable of 0 does not count. */
  score(requested: ArrayLike<number>, allocatable: ArrayLike<number>): number;
}

export const defaultResources: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

export function strategyOf({
  type = 'LeastAllocated',
  resources = defaultResources,
  requestedToCapacityRatio,
}: ScoringStrategy): Strategy {
  const weighted = resources.map(({ name, weight }) => ({ name, weight: weight || 1 }));
  const byRatio = type === 'RequestedToCapacityRatio';
  const scoreOne = byRatio ? ratio(requestedToCapacityRatio?.shape ?? []) : type === 'MostAllocated' ? most : least;
  return {
    resources: weighted,
    score(requested, allocatable) {
      let sum = 0;
      let weights = 0;
      for (let i = 0; i < weighted.length; i++) {
        const capacity = allocatable[i] as number;
        if (capacity === 0) continue;
        const one = scoreOne(requested[i] as number, capacity);
        const { weight } = weighted[i] as { weight: number };
        if (byRatio && one <= 0) continue;
        sum += one * weight;
        weights += weight;
      }
      if (weights === 0) return 0;
      return byRatio ? Math.round(sum / weights) : Math.trunc(sum / weights);
    },
  };
}
