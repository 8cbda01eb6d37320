// What may change while a pod waits behind scheduling gates (KEP-3838): node selectors and node affinity, only towards fewer nodes.
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { own } from '#utils';
import { semanticEqual } from '../../../common/equality.ts';
import { isEmpty, type Report } from '../../../common/report.ts';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Checks the allowed changes of `spec` and takes them back, so that a comparison with `old` finds only others. */
export function gatedChanges(report: Report, path: Path, spec: core.PodSpec, old: core.PodSpec): void {
  if (!semanticEqual(spec.nodeSelector, old.nodeSelector)) {
    validateSelector(report, path.child('nodeSelector'), spec.nodeSelector, old.nodeSelector ?? {});
    spec.nodeSelector = old.nodeSelector;
  }
  const before = old.affinity?.nodeAffinity;
  if (semanticEqual(before, spec.affinity?.nodeAffinity)) return;
  validateNodeAffinity(report, path.child('affinity', 'nodeAffinity'), spec.affinity?.nodeAffinity, before);
  const affinity: core.Affinity = { ...spec.affinity };
  delete affinity.nodeAffinity;
  if (before) affinity.nodeAffinity = before;
  const nothing = !old.affinity && !affinity.podAffinity && !affinity.podAntiAffinity;
  spec.affinity = nothing ? undefined : affinity;
}

function validateSelector(
  report: Report,
  path: Path,
  selector: Record<string, string> | undefined,
  old: Record<string, string>,
): void {
  const kept = Object.keys(old).every((key) => own(selector ?? {}, key) === old[key]);
  if (!kept)
    report.invalid(path, selector ?? null, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)');
}

function validateNodeAffinity(
  report: Report,
  path: Path,
  affinity: core.NodeAffinity | undefined,
  old: core.NodeAffinity | undefined,
): void {
  const oldTerms = old?.[required]?.nodeSelectorTerms;
  if (!oldTerms) return;
  const terms = affinity?.[required]?.nodeSelectorTerms ?? [];
  const at = path.child(required, 'nodeSelectorTerms');
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    return report.invalid(at, internalTerms(terms), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
  }
  oldTerms.forEach((before, index) => {
    const term = terms[index] ?? {};
    if (!onlyAdds(term, before))
      report.invalid(at.index(index), internalTerms([term])?.[0], 'only additions are allowed (no mutations or deletions)');
  });
}

function onlyAdds(term: core.NodeSelectorTerm, old: core.NodeSelectorTerm): boolean {
  if (isEmpty(old.matchExpressions) && isEmpty(old.matchFields))
    return isEmpty(term.matchExpressions) && isEmpty(term.matchFields);
  const startsWith = (now: unknown[] = [], before: unknown[] = []): boolean => semanticEqual(now.slice(0, before.length), before);
  return startsWith(term.matchExpressions, old.matchExpressions) && startsWith(term.matchFields, old.matchFields);
}

// As upstream's internal type prints.
function internalTerms(terms: core.NodeSelectorTerm[]): Record<string, unknown>[] | null {
  const list = (requirements: core.NodeSelectorRequirement[] | undefined): unknown =>
    requirements?.map(({ key, operator, values }) => ({ Key: key ?? '', Operator: operator ?? '', Values: values ?? null })) ??
    null;
  return terms.length === 0
    ? null
    : terms.map((term) => ({ MatchExpressions: list(term.matchExpressions), MatchFields: list(term.matchFields) }));
}
