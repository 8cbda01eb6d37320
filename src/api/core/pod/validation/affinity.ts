// Rules of node and pod affinity (pkg/apis/core/validation, validateAffinity). Node selectors are also used by volumes and slices.
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isDNS1123Label, isDNS1123Subdomain, isLabelValue } from '#apimachinery/validation';
import { validateLabelName, validateLabelSelector } from '../../../common/labels.ts';
import { isEmpty, type Report } from '../../../common/report.ts';
import type { PodRules } from './rules.ts';
import { validateMatchAndMismatchLabelKeys } from './topology-spread.ts';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(report: Report, path: Path, affinity: core.Affinity | undefined, rules: PodRules): void {
  if (!affinity) return;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity) validateNodeAffinity(report, path.child('nodeAffinity'), nodeAffinity, rules);
  if (podAffinity) validatePodAffinity(report, path.child('podAffinity'), podAffinity, rules);
  if (podAntiAffinity) validatePodAffinity(report, path.child('podAntiAffinity'), podAntiAffinity, rules);
}

function validateNodeAffinity(report: Report, path: Path, affinity: core.NodeAffinity, rules: PodRules): void {
  const needed = affinity[required];
  if (needed) validateNodeSelector(report, path.child(required), needed, rules.allowInvalidNodeAffinityValues);
  affinity[preferred]?.forEach(({ weight, preference }, index) => {
    const at = path.child(preferred).index(index);
    validateWeight(report, at.child('weight'), weight);
    validateNodeSelectorTerm(report, at.child('preference'), preference ?? {}, true);
  });
}

function validateWeight(report: Report, path: Path, weight = 0): void {
  if (weight <= 0 || weight > 100) report.invalid(path, weight, 'must be in the range 1-100');
}

/** Checks a node selector; `allowInvalidValues` lets any values of labels pass. */
export function validateNodeSelector(report: Report, path: Path, selector: core.NodeSelector, allowInvalidValues = false): void {
  const at = path.child('nodeSelectorTerms');
  if (isEmpty(selector.nodeSelectorTerms)) return report.required(at, 'must have at least one node selector term');
  selector.nodeSelectorTerms?.forEach((term, index) =>
    validateNodeSelectorTerm(report, at.index(index), term, allowInvalidValues),
  );
}

export function validateNodeSelectorTerm(
  report: Report,
  path: Path,
  term: core.NodeSelectorTerm,
  allowInvalidValues = false,
): void {
  term.matchExpressions?.forEach((requirement, index) =>
    validateExpression(report, path.child('matchExpressions').index(index), requirement, allowInvalidValues),
  );
  term.matchFields?.forEach((requirement, index) => validateField(report, path.child('matchFields').index(index), requirement));
}

function validateExpression(
  report: Report,
  path: Path,
  { key, operator, values }: core.NodeSelectorRequirement,
  allowInvalidValues: boolean,
): void {
  const at = path.child('values');
  if (operator === 'In' || operator === 'NotIn') {
    if (isEmpty(values)) report.required(at, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (!isEmpty(values)) report.forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values?.length !== 1) report.required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else report.invalid(path.child('operator'), operator ?? '', 'not a valid selector operator');
  validateLabelName(report, path.child('key'), key);
  if (!allowInvalidValues) values?.forEach((value, index) => report.problems(at.index(index), value, isLabelValue(value)));
}

function validateField(report: Report, path: Path, { key, operator, values }: core.NodeSelectorRequirement): void {
  if (operator !== 'In' && operator !== 'NotIn')
    report.invalid(path.child('operator'), operator ?? '', 'not a valid selector operator');
  else if (values?.length !== 1) {
    report.required(path.child('values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== 'metadata.name') report.invalid(path.child('key'), key ?? '', 'not a valid field selector key');
  else values?.forEach((value, index) => report.problems(path.child('values').index(index), value, isDNS1123Subdomain(value)));
}

function validatePodAffinity(
  report: Report,
  path: Path,
  affinity: core.PodAffinity | core.PodAntiAffinity,
  rules: PodRules,
): void {
  affinity[required]?.forEach((term, index) => validateTerm(report, path.child(required).index(index), term, rules));
  affinity[preferred]?.forEach(({ weight, podAffinityTerm }, index) => {
    const at = path.child(preferred).index(index);
    validateWeight(report, at.child('weight'), weight);
    validateTerm(report, at.child('podAffinityTerm'), podAffinityTerm ?? { topologyKey: '' }, rules);
  });
}

function validateTerm(report: Report, path: Path, term: core.PodAffinityTerm, rules: PodRules): void {
  validateLabelSelector(report, path.child('labelSelector'), term.labelSelector, rules.allowInvalidSelectorValues);
  validateLabelSelector(report, path.child('namespaceSelector'), term.namespaceSelector, rules.allowInvalidSelectorValues);
  for (const name of term.namespaces ?? []) report.problems(path.child('namespace'), name, isDNS1123Label(name));
  validateMatchAndMismatchLabelKeys(report, path, term.matchLabelKeys, term.mismatchLabelKeys, term.labelSelector);
  if (isEmpty(term.topologyKey)) report.required(path.child('topologyKey'), 'can not be empty');
  validateLabelName(report, path.child('topologyKey'), term.topologyKey);
}
