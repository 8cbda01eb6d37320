// Cordoned nodes take only pods that tolerate it (upstream plugins/nodeunschedulable).
import type { Node, Pod, Taint } from '#api/core/v1';
import { untoleratedTaint } from '#component-helpers/pod';
import { interest, type Plugin, unresolvable } from '../../framework/index.ts';

const name = 'NodeUnschedulable';
const unschedulableNode = unresolvable(name, 'node(s) were unschedulable');
const taint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const toleratesCordon = (pod: Pod): boolean => untoleratedTaint([taint], pod.spec?.tolerations, ['NoSchedule']) === undefined;

export const nodeUnschedulable = (): Plugin => ({
  name,
  local: true,
  events: [
    interest<Node>('Node', ['Add', 'UpdateNodeTaint'], (_pod, { old, now }) => {
      return now?.spec?.unschedulable !== true && (old === undefined || old.spec?.unschedulable === true);
    }),
    interest<Pod>('Pod', ['UpdatePodToleration'], (pod, { now }) => {
      return now?.metadata.uid === pod.uid && toleratesCordon(now);
    }),
  ],
  filter: (_state, { node }, { pod }) =>
    node.spec?.unschedulable === true && !toleratesCordon(pod.pod) ? unschedulableNode : undefined,
});
