// Pods with gates wait until the last one is removed (KEP-3521, upstream plugins/schedulinggates).
import { interest, type Plugin, unresolvable } from '../../framework/index.ts';
import type { Pod } from '#api/core/v1';

const name = 'SchedulingGates';

export const schedulingGates = (): Plugin => ({
  name,
  events: [interest<Pod>('Pod', ['UpdatePodSchedulingGatesEliminated'], (pod, { now }) => now?.metadata.uid === pod.uid)],
  preEnqueue({ pod }) {
    const gates = pod.spec?.schedulingGates ?? [];
    if (gates.length === 0) return undefined;
    return unresolvable(name, `waiting for scheduling gates: [${gates.map((gate) => gate.name).join(' ')}]`);
  },
});
