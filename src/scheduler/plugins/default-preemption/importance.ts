// Which pods are given up first (upstream pkg/scheduler/util MoreImportantPod, preemption pickOneNodeForPreemption).
import type { PodInfo } from '../../framework/index.ts';

/** Milliseconds since the Unix epoch; a pod that has not started starts now. */
const startMs = ({ pod }: PodInfo, nowMs: number): number => (pod.status?.startTime ? Date.parse(pod.status.startTime) : nowMs);

/** Sorts the more important pods first: by priority, then by who runs longer. */
export const byImportance =
  (nowMs: number) =>
  (a: PodInfo, b: PodInfo): number =>
    b.priority - a.priority || startMs(a, nowMs) - startMs(b, nowMs);

export interface Candidate {
  readonly nodeName: string;
  /** Most important first. */
  readonly victims: readonly PodInfo[];
  /** Victims whose disruption budget does not allow it. */
  readonly violations: number;
}

const int32Span = 2_147_483_648;

/** When the longest-running of the most important victims started. */
function earliestStartMs({ victims }: Candidate, nowMs: number): number {
  const highest = Math.max(...victims.map(({ priority }) => priority));
  return Math.min(...victims.filter(({ priority }) => priority === highest).map((victim) => startMs(victim, nowMs)));
}

/** Smaller is better; compared in order. */
const costs: readonly ((candidate: Candidate, nowMs: number) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? 0,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + int32Span, 0),
  ({ victims }) => victims.length,
  (candidate, nowMs) => -earliestStartMs(candidate, nowMs),
];

/** The cheapest candidates: more than one only when all costs are equal. */
export function cheapest(candidates: readonly Candidate[], nowMs: number): readonly Candidate[] {
  let left = candidates;
  for (const cost of costs) {
    if (left.length <= 1) break;
    const priced = left.map((candidate) => ({ candidate, price: cost(candidate, nowMs) }));
    const least = Math.min(...priced.map(({ price }) => price));
    left = priced.filter(({ price }) => price === least).map(({ candidate }) => candidate);
  }
  return left;
}
