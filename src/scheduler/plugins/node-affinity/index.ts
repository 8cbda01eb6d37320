// nodeSelector and node affinity, required and preferred, with what the profile adds for all its pods (upstream plugins/nodeaffinity).
import type { Node, NodeSelectorTerm, Pod, PreferredSchedulingTerm } from '#api/core/v1';
import { nodeSelectorMatches, requiredNodeAffinityMatches } from '#component-helpers/pod';
import { defaultNormalize, interest, type Plugin, type PreFilterAnswer, unresolvable } from '../../framework/index.ts';
import type { NodeAffinityArgs } from './args.ts';

const name = 'NodeAffinity';
const noMatch = unresolvable(name, "node(s) didn't match Pod's node affinity/selector");
const notEnforced = unresolvable(name, "node(s) didn't match scheduler-enforced node affinity");
const conflict = unresolvable(name, 'pod affinity terms conflict');

const isEmpty = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length + matchFields.length === 0;

const preferenceOf = (terms: readonly PreferredSchedulingTerm[] | undefined, node: Node): number => {
  let sum = 0;
  for (const { weight, preference } of terms ?? []) {
    if (!isEmpty(preference) && nodeSelectorMatches({ nodeSelectorTerms: [preference] }, node)) sum += weight;
  }
  return sum;
};

/** The names one term allows, when it asks for names at all. */
function namesOf({ matchFields = [] }: NodeSelectorTerm): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (const { key, operator, values = [] } of matchFields) {
    if (key !== 'metadata.name' || operator !== 'In') continue;
    names = new Set(names === undefined ? values : values.filter((value) => names?.has(value)));
  }
  return names;
}

/** Terms that all name nodes make looking at any other node needless. */
function narrow(terms: readonly NodeSelectorTerm[]): PreFilterAnswer<unknown> {
  const all = new Set<string>();
  for (const term of terms) {
    const names = namesOf(term);
    if (names === undefined) return {};
    for (const one of names) all.add(one);
  }
  return all.size === 0 ? { status: conflict } : { nodeNames: all };
}

export function nodeAffinity({ addedAffinity }: NodeAffinityArgs = {}): Plugin {
  const enforced = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const added = addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  const helps = (pod: Pod, node: Node): boolean =>
    (enforced === undefined || nodeSelectorMatches(enforced, node)) && requiredNodeAffinityMatches(pod, node);
  return {
    name,
    local: true,
    events: [
      interest<Node>('Node', ['Add', 'UpdateNodeLabel'], ({ pod }, { old, now }) => {
        return now !== undefined && helps(pod, now) && (old === undefined || !requiredNodeAffinityMatches(pod, old));
      }),
    ],
    preFilter({ pod }) {
      const terms = pod.pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      if (terms === undefined && enforced === undefined && pod.pod.spec?.nodeSelector === undefined) return { skip: true };
      return terms?.length ? narrow(terms) : {};
    },
    filter(_state, { node }, { pod }) {
      if (enforced !== undefined && !nodeSelectorMatches(enforced, node)) return notEnforced;
      return requiredNodeAffinityMatches(pod.pod, node) ? undefined : noMatch;
    },
    preScore({ pod }) {
      const preferred = pod.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
      return { skip: preferred === undefined && (added === undefined || added.length === 0) };
    },
    score: (_state, { node }, { pod }) =>
      preferenceOf(added, node) +
      preferenceOf(pod.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, node),
    normalize: (_state, scores) => defaultNormalize(scores, false),
  };
}
