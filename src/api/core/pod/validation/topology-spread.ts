// Rules of topology spread constraints and of label keys taken from the pod (pkg/apis/core/validation; KEP-895, KEP-3633).
import type { TopologySpreadConstraint } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { type SelectorShape, validateLabelName, validateLabelSelector } from '../../../common/labels.ts';
import { positive } from '../../../common/numbers.ts';
import { isEmpty, type Report } from '../../../common/report.ts';
import type { PodRules } from './rules.ts';

const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const nodePolicies = ['Honor', 'Ignore'];

export function validateTopologySpread(
  report: Report,
  path: Path,
  constraints: TopologySpreadConstraint[] | undefined,
  rules: PodRules,
): void {
  const pairOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string =>
    JSON.stringify([topologyKey, whenUnsatisfiable]);
  // Of constraints with the same pair each but the last is reported as a duplicate, as upstream does.
  const last = new Map(constraints?.map((constraint, index) => [pairOf(constraint), index]));
  constraints?.forEach((constraint, index) => {
    const at = path.index(index);
    const { topologyKey, whenUnsatisfiable, minDomains } = constraint;
    positive(report, at.child('maxSkew'), constraint.maxSkew);
    if (isEmpty(topologyKey)) report.required(at.child('topologyKey'), 'can not be empty');
    report.known(at.child('whenUnsatisfiable'), whenUnsatisfiable, actions);
    if (last.get(pairOf(constraint)) !== index)
      report.duplicate(at.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`);
    if (minDomains !== undefined) {
      positive(report, at.child('minDomains'), minDomains);
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        report.invalid(
          at.child('minDomains'),
          minDomains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
        );
      }
    }
    report.knownIfSet(at.child('nodeAffinityPolicy'), constraint.nodeAffinityPolicy, nodePolicies);
    report.knownIfSet(at.child('nodeTaintsPolicy'), constraint.nodeTaintsPolicy, nodePolicies);
    if (rules.legacyMatchLabelKeys) validateLegacyMatchLabelKeys(report, at.child('matchLabelKeys'), constraint);
    else matchLabelKeysProblems(report, at, constraint);
    if (!rules.allowInvalidSpreadSelector) validateLabelSelector(report, at.child('labelSelector'), constraint.labelSelector);
  });
}

export const matchLabelKeysProblems = (report: Report, path: Path, constraint: TopologySpreadConstraint): void =>
  validateMatchAndMismatchLabelKeys(report, path, constraint.matchLabelKeys, undefined, constraint.labelSelector);

/** Keys may not repeat what the selector says; a key appears there once when the server merged it in. */
export function validateMatchAndMismatchLabelKeys(
  report: Report,
  path: Path,
  match: string[] | undefined,
  mismatch: string[] | undefined,
  selector: SelectorShape | undefined,
): void {
  validateKeys(report, path.child('matchLabelKeys'), match, selector);
  validateKeys(report, path.child('mismatchLabelKeys'), mismatch, selector);
  if (selector && match) {
    const known = new Set(Object.keys(selector.matchLabels ?? {}));
    const last = new Map(match.map((key, index) => [key, index]));
    for (const { key } of selector.matchExpressions ?? []) {
      const index = last.get(key);
      if (index !== undefined && known.has(key))
        report.invalid(path.index(index), key, 'exists in both matchLabelKeys and labelSelector');
      known.add(key);
    }
  }
  const mismatches = new Set(mismatch);
  match?.forEach((key, index) => {
    if (mismatches.has(key))
      report.invalid(path.child('matchLabelKeys').index(index), key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  });
}

function validateKeys(report: Report, path: Path, keys: string[] | undefined, selector: SelectorShape | undefined): void {
  if (isEmpty(keys)) return;
  if (!selector) return report.forbidden(path, 'must not be specified when labelSelector is not set');
  keys?.forEach((key, index) => validateLabelName(report, path.index(index), key));
}

function validateLegacyMatchLabelKeys(
  report: Report,
  path: Path,
  { matchLabelKeys, labelSelector }: TopologySpreadConstraint,
): void {
  if (isEmpty(matchLabelKeys)) return;
  if (!labelSelector) report.forbidden(path, 'must not be specified when labelSelector is not set');
  const known = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  matchLabelKeys?.forEach((key, index) => {
    validateLabelName(report, path.index(index), key);
    if (known.has(key)) report.invalid(path.index(index), key, 'exists in both matchLabelKeys and labelSelector');
  });
}
