// Pods that want to be near or far from other pods (upstream plugins/interpodaffinity).
import { affinityTermsMax, type Plugin, unresolvable } from '../../framework/index.ts';
import { affinityVerdict, copyFilterState, type FilterState, filterState, isIdle, updateState } from './filtering.ts';
import { affinityInterests } from './hints.ts';
import { affinityScore, normalizeAffinity, scoreSums } from './scoring.ts';
import type { TopologySums } from './sums.ts';
import type { InterPodAffinityArgs } from './args.ts';

const name = 'InterPodAffinity';
const tooManyTerms = unresolvable(name, `pod has more than ${affinityTermsMax} required (anti-)affinity terms`);

export const interPodAffinity = ({
  hardPodAffinityWeight = 1,
  ignorePreferredTermsOfExistingPods = false,
}: InterPodAffinityArgs = {}): Plugin<FilterState, TopologySums> => ({
  name,
  events: affinityInterests,
  preFilter(cycle) {
    const { pod, snapshot } = cycle;
    if (pod.requiredTerms > affinityTermsMax) return { status: tooManyTerms };
    const quiet = pod.requiredAffinity.length === 0 && pod.requiredAntiAffinity.length === 0;
    if (quiet && snapshot.nodesWithRequiredAntiAffinity.size === 0) return { skip: true };
    const state = filterState(cycle);
    return { state, skip: isIdle(state) };
  },
  filter: (state, node, cycle) => affinityVerdict(state, node, cycle),
  copyState: copyFilterState,
  addPod: (state, other, node, cycle) => updateState(state, other, node, cycle, 1),
  removePod: (state, other, node, cycle) => updateState(state, other, node, cycle, -1),
  quiet({ pod, snapshot }) {
    const own = pod.preferredAffinity.length + pod.preferredAntiAffinity.length;
    return own === 0 && (ignorePreferredTermsOfExistingPods || snapshot.affinityGroups.size === 0);
  },
  preScore(cycle) {
    const sums = scoreSums(cycle, hardPodAffinityWeight, ignorePreferredTermsOfExistingPods);
    return sums === undefined ? { skip: true } : { state: sums };
  },
  score: affinityScore,
  normalize: (_sums, scores) => normalizeAffinity(scores),
});
