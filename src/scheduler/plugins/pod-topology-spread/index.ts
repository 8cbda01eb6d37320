// Spreads pods that belong together over zones, hosts or any other topology (KEP-895, upstream plugins/podtopologyspread).
import type { TopologySpreadConstraint } from '#api/core/v1';
import type { Plugin } from '../../framework/index.ts';
import { constraintsBy, hostnameLabel } from './constraints.ts';
import { copyFilterState, type FilterState, filterState, spreadVerdict, updateState } from './filtering.ts';
import { spreadInterests } from './hints.ts';
import { normalizeSpread, type ScoreState, scoreState, spreadScore } from './scoring.ts';
import type { PodTopologySpreadArgs } from './args.ts';

const systemDefaults: readonly TopologySpreadConstraint[] = [
  { topologyKey: hostnameLabel, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];

export function podTopologySpread({
  defaultingType = 'System',
  defaultConstraints = [],
}: PodTopologySpreadArgs = {}): Plugin<FilterState, ScoreState> {
  const bySystem = defaultingType === 'System';
  const constraintsOf = constraintsBy(bySystem ? systemDefaults : defaultConstraints);
  return {
    name: 'PodTopologySpread',
    events: spreadInterests(constraintsOf),
    preFilter(cycle) {
      const constraints = constraintsOf(cycle.pod.pod, 'DoNotSchedule', cycle.view);
      return constraints.length === 0 ? { skip: true } : { state: filterState(cycle, constraints) };
    },
    filter: (state, node) => spreadVerdict(state, node),
    copyState: copyFilterState,
    addPod: (state, other, node, cycle) => updateState(state, other, node, cycle, 1),
    removePod: (state, other, node, cycle) => updateState(state, other, node, cycle, -1),
    quiet: ({ pod, view }) => constraintsOf(pod.pod, 'ScheduleAnyway', view).length === 0,
    preScore(cycle, feasible) {
      const constraints = constraintsOf(cycle.pod.pod, 'ScheduleAnyway', cycle.view);
      if (constraints.length === 0) return { skip: true };
      const requireAll = !bySystem || Boolean(cycle.pod.pod.spec?.topologySpreadConstraints?.length);
      return { state: scoreState(cycle, constraints, feasible, requireAll) };
    },
    score: (state, node) => spreadScore(state, node),
    normalize: (state, scores, feasible) => normalizeSpread(state, scores, feasible),
  };
}
