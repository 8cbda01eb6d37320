// Which changes may let a pod through that affinity kept out (upstream plugins/interpodaffinity plugin.go).
import type { Node, Pod } from '#api/core/v1';
import { own } from '#utils';
import {
  affinityTerms,
  allTermsMatch,
  type ClusterEvent,
  type ClusterView,
  type EventInterest,
  interest,
  type PodInfo,
} from '../../framework/index.ts';
import { resolveTerm } from './terms.ts';

const hasPlace = (pod: Pod | undefined): boolean =>
  pod === undefined || Boolean(pod.spec?.nodeName || pod.status?.nominatedNodeName);

function podHelps(pod: PodInfo, { old, now }: ClusterEvent<Pod>, view: ClusterView): boolean {
  if (old && now && now.metadata.uid === pod.uid) return true;
  if (!hasPlace(old) || !hasPlace(now)) return false;
  const terms = pod.requiredAffinity.map((term) => resolveTerm(term, view));
  const anti = pod.requiredAntiAffinity.map((term) => resolveTerm(term, view));
  if (old && now) {
    return (!allTermsMatch(terms, old) && allTermsMatch(terms, now)) || (allTermsMatch(anti, old) && !allTermsMatch(anti, now));
  }
  if (now) return allTermsMatch(terms, now);
  if (old === undefined) return false;
  const theirs = affinityTerms(old, old.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  return (
    allTermsMatch(anti, old) ||
    allTermsMatch(
      theirs.map((term) => resolveTerm(term, view)),
      pod.pod,
    )
  );
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
