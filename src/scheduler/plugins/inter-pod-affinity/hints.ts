// Which changes may let a pod through that affinity kept out (upstream plugins/interpodaffinity plugin.go).
import type { Node, Pod } from '#api/core/v1';
import { own } from '#utils';
import {
  type AffinityTerm,
  affinityTerms,
  allTermsMatch,
  type ClusterEvent,
  type ClusterView,
  type EventInterest,
  interest,
  type PodInfo,
} from '../../framework/index.ts';

const hasPlace = (pod: Pod | undefined): boolean =>
  pod === undefined || Boolean(pod.spec?.nodeName || pod.status?.nominatedNodeName);

/** Ends at the first term that does not match, and looks only at the namespace of `other`: a pod may have thousands of terms. */
const allMatch = (terms: readonly AffinityTerm[], other: Pod, view: ClusterView): boolean =>
  allTermsMatch(terms, other, view.get('Namespace', '', other.metadata.namespace ?? '')?.metadata.labels);

function podHelps(pod: PodInfo, { old, now }: ClusterEvent<Pod>, view: ClusterView): boolean {
  if (old && now && now.metadata.uid === pod.uid) return true;
  if (!hasPlace(old) || !hasPlace(now)) return false;
  const { requiredAffinity: terms, requiredAntiAffinity: anti } = pod;
  if (old && now) {
    return (
      (!allMatch(terms, old, view) && allMatch(terms, now, view)) || (allMatch(anti, old, view) && !allMatch(anti, now, view))
    );
  }
  if (now) return allMatch(terms, now, view);
  if (old === undefined) return false;
  if (allMatch(anti, old, view)) return true;
  const theirs = affinityTerms(old, old.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  return allMatch(theirs, pod.pod, view);
}

function nodeHelps(pod: PodInfo, { old, now }: ClusterEvent<Node>): boolean {
  const value = (node: Node | undefined, key: string): string | undefined => own(node?.metadata.labels ?? {}, key);
  const gains = pod.requiredAffinity.some(
    ({ topologyKey: key }) => value(now, key) !== undefined && value(old, key) !== value(now, key),
  );
  if (gains) return true;
  return pod.requiredAntiAffinity.some(({ topologyKey: key }) => {
    return old === undefined || (value(old, key) !== undefined && value(old, key) !== value(now, key));
  });
}

export const affinityInterests: readonly EventInterest[] = [
  interest<Pod>('Pod', ['Add', 'Delete', 'UpdatePodLabel'], podHelps),
  interest<Node>('Node', ['Add', 'UpdateNodeLabel'], nodeHelps),
];
