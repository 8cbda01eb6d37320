// What the two kinds of admission policies and of bindings share (KEP-3488, KEP-3962; pkg/apis/admissionregistration/validation).
import type * as admission from '#api/admissionregistration/v1';
import { type Path, root } from '#apimachinery/field';
import { isDNS1035Label, isDNS1123Subdomain, isPathSegmentName } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { validateLabelSelector } from '../../common/labels.ts';
import { formatSelector } from '../../common/printing.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { validateMatchResources } from './rules.ts';

interface PolicySpec {
  paramKind?: admission.ParamKind;
  matchConditions?: admission.MatchCondition[];
}

/** Conditions that compiled once are not compiled again while nothing they see changes. */
export const sameConditions = (spec: PolicySpec = {}, old: PolicySpec = {}): boolean =>
  semanticEqual(spec.paramKind, old.paramKind) && semanticEqual(spec.matchConditions, old.matchConditions);

export function validateParamKind(report: Report, path: Path, { apiVersion = '', kind = '' }: admission.ParamKind): void {
  validateGroupVersion(report, path.child('apiVersion'), apiVersion);
  if (kind === '') return report.required(path.child('kind'));
  const problems = isDNS1035Label(kind.toLowerCase());
  if (problems.length > 0)
    report.invalid(path.child('kind'), kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

function validateGroupVersion(report: Report, path: Path, text: string): void {
  if (text === '') return report.required(path);
  const parts = text === '/' ? [''] : text.split('/');
  if (parts.length > 2) return report.invalid(path, text, `unexpected GroupVersion string: ${text}`);
  const [group, version] = parts.length === 2 ? parts : ['', parts[0]];
  const groupProblems = group ? isDNS1123Subdomain(group) : [];
  if (groupProblems.length > 0) report.invalid(path, group, groupProblems.join(','));
  if (!version) return report.invalid(path, text, 'version must be specified');
  const problems = isDNS1035Label(version);
  if (problems.length > 0) report.invalid(path, version, problems.join(','));
}

function validateParamRef(report: Report, path: Path, ref: admission.ParamRef): void {
  const { name, selector, parameterNotFoundAction: action } = ref;
  const both = 'name and selector are mutually exclusive';
  if (name) {
    report.problems(path.child('name'), name, isPathSegmentName(name));
    if (selector) report.forbidden(path.child('name'), both);
  }
  if (selector) {
    validateLabelSelector(report, path.child('selector'), selector);
    if (name) report.forbidden(path.child('selector'), both);
  }
  if (!name && !selector) report.required(path, 'one of name or selector must be specified');
  if (isEmpty(action)) report.required(path.child('parameterNotFoundAction'));
  else report.known(path.child('parameterNotFoundAction'), action, ['Deny', 'Allow']);
}

export function validateBinding(report: Report, spec: admission.MutatingAdmissionPolicyBindingSpec): void {
  const path = root('spec');
  const { policyName, paramRef, matchResources } = spec;
  if (isEmpty(policyName)) report.required(path.child('policyName'));
  else report.problems(path.child('policyName'), policyName, isDNS1123Subdomain(policyName ?? ''));
  if (paramRef) validateParamRef(report, path.child('paramRef'), paramRef);
  if (matchResources) validateMatchResources(report, path.child('matchResources'), matchResources);
}

export const paramKindText = (kind: admission.ParamKind | undefined): string =>
  kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : '<unset>';

export function paramRefText(ref: admission.ParamRef | undefined): string {
  if (ref?.name) return `${ref.namespace || '*'}/${ref.name}`;
  return ref?.selector ? formatSelector(ref.selector as Parameters<typeof formatSelector>[0]) : '<unset>';
}
