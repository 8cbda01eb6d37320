// Taints that keep pods off, and those that only make a node less liked (upstream plugins/tainttoleration).
import type { Node, Pod, Toleration } from '#api/core/v1';
import { tolerates, untoleratedTaint } from '#component-helpers/pod';
import { defaultNormalize, interest, type Plugin, unresolvable } from '../../framework/index.ts';

const name = 'TaintToleration';
const untolerated = unresolvable(name, 'node(s) had untolerated taint(s)');
const keepsOff = ['NoSchedule', 'NoExecute'];

const isKeptOff = (node: Node, pod: Pod): boolean =>
  node.spec?.taints !== undefined && untoleratedTaint(node.spec.taints, pod.spec?.tolerations, keepsOff) !== undefined;

const dislikes = (node: Node, tolerations: readonly Toleration[]): number => {
  let count = 0;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint))) count++;
  }
  return count;
};

export const taintToleration = (): Plugin<unknown, readonly Toleration[]> => ({
  name,
  local: true,
  events: [
    interest<Node>('Node', ['Add', 'UpdateNodeTaint'], ({ pod }, { old, now }) => {
      return now !== undefined && !isKeptOff(now, pod) && (old === undefined || isKeptOff(old, pod));
    }),
    interest<Pod>('Pod', ['UpdatePodToleration'], (pod, { now }) => now?.metadata.uid === pod.uid),
  ],
  filter: (_state, { node }, { pod }) => (isKeptOff(node, pod.pod) ? untolerated : undefined),
  preScore: ({ pod }) => ({
    state: (pod.pod.spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === 'PreferNoSchedule'),
  }),
  score: (tolerations, { node }) => dislikes(node, tolerations),
  normalize: (_state, scores) => defaultNormalize(scores, true),
});
