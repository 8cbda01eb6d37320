// Which changes may let a pod through that its spread constraints kept out (upstream plugins/podtopologyspread plugin.go).
import type { Node, Pod } from '#api/core/v1';
import { deepEqual, own } from '#utils';
import { type ClusterEvent, type ClusterView, type EventInterest, interest, type PodInfo } from '../../framework/index.ts';
import type { ConstraintsOf, SpreadConstraint } from './constraints.ts';

const isInvolved = (other: Pod | undefined, { uid, namespace }: PodInfo): boolean =>
  other === undefined ||
  other.metadata.uid === uid ||
  (Boolean(other.spec?.nodeName || other.status?.nominatedNodeName) && other.metadata.namespace === namespace);

function podHelps(pod: PodInfo, { old, now }: ClusterEvent<Pod>, constraints: readonly SpreadConstraint[]): boolean {
  if (!isInvolved(old, pod) || !isInvolved(now, pod)) return false;
  const matches = (other: Pod): boolean => constraints.some(({ selector }) => selector.matches(other.metadata.labels));
  if (old === undefined || now === undefined) return matches((now ?? old) as Pod);
  const tolerationsChanged = now.metadata.uid === pod.uid && !deepEqual(old.spec?.tolerations, now.spec?.tolerations);
  if (tolerationsChanged && constraints.some(({ honorsTaints }) => honorsTaints)) return true;
  return constraints.some(({ selector }) => selector.matches(old.metadata.labels) !== selector.matches(now.metadata.labels));
}

const labelOf = ({ metadata }: Node, key: string): string | undefined => own(metadata.labels ?? {}, key);

function nodeHelps({ old, now }: ClusterEvent<Node>, constraints: readonly SpreadConstraint[]): boolean {
  const fits = (node: Node): boolean => constraints.every(({ topologyKey }) => labelOf(node, topologyKey) !== undefined);
  if (old === undefined || now === undefined) return fits((now ?? old) as Node);
  if (fits(old) !== fits(now)) return true;
  const moved = constraints.some(({ topologyKey }) => labelOf(old, topologyKey) !== labelOf(now, topologyKey));
  return fits(now) && (moved || !deepEqual(old.spec?.taints, now.spec?.taints));
}

export function spreadInterests(constraintsOf: ConstraintsOf): EventInterest[] {
  const hard = ({ pod }: PodInfo, view: ClusterView): readonly SpreadConstraint[] => constraintsOf(pod, 'DoNotSchedule', view);
  return [
    interest<Pod>('Pod', ['Add', 'Delete', 'UpdatePodLabel', 'UpdatePodToleration'], (pod, event, view) =>
      podHelps(pod, event, hard(pod, view)),
    ),
    interest<Node>('Node', ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'], (pod, event, view) =>
      nodeHelps(event, hard(pod, view)),
    ),
  ];
}
