// Which requests webhooks and policies see (pkg/apis/admissionregistration/validation, validateRuleWithOperations, validateMatchResources).
import type * as admission from '#api/admissionregistration/v1';
import type { Path } from '#apimachinery/field';
import { isPathSegmentName } from '#apimachinery/validation';
import { repeats } from '#utils';
import { validateLabelSelector } from '../../common/labels.ts';
import { isEmpty, type Report } from '../../common/report.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];
export const reinvocationPolicies = ['IfNeeded', 'Never'];

function validateAlone(report: Report, path: Path, values: string[] | undefined, others: string): void {
  if ((values?.length ?? 0) > 1 && values?.includes('*'))
    report.invalid(path, values, `if '*' is present, must not specify other ${others}`);
}

export function validateRule(report: Report, path: Path, rule: admission.RuleWithOperations): void {
  const at = path.child('operations');
  if (isEmpty(rule.operations)) report.required(at);
  validateAlone(report, at, rule.operations, 'operations');
  rule.operations?.forEach((operation, index) => report.known(at.index(index), operation, operations));
  const groups = path.child('apiGroups');
  if (isEmpty(rule.apiGroups)) report.required(groups);
  validateAlone(report, groups, rule.apiGroups, 'API groups');
  const versions = path.child('apiVersions');
  if (isEmpty(rule.apiVersions)) report.required(versions);
  validateAlone(report, versions, rule.apiVersions, 'API versions');
  rule.apiVersions?.forEach((version, index) => {
    if (version === '') report.required(versions.index(index));
  });
  validateResources(report, path.child('resources'), rule.resources ?? []);
  report.knownIfSet(path.child('scope'), rule.scope, scopes);
}

function validateResources(report: Report, path: Path, resources: string[]): void {
  if (resources.length === 0) report.required(path);
  const wildSubresource = new Set<string>();
  const wildResource = new Set<string>();
  let hasPlain = false;
  resources.forEach((text, index) => {
    if (text === '') return report.required(path.index(index));
    const slash = text.indexOf('/');
    if (slash < 0) {
      hasPlain = text !== '*';
      return;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wildSubresource.has(resource))
      report.invalid(path.index(index), text, `if '${resource}/*' is present, must not specify ${text}`);
    if (wildResource.has(subresource))
      report.invalid(path.index(index), text, `if '*/${subresource}' is present, must not specify ${text}`);
    if (subresource === '*') wildSubresource.add(resource);
    if (resource === '*') wildResource.add(subresource);
  });
  if (resources.length > 1 && resources.includes('*/*'))
    report.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  if (resources.includes('*') && hasPlain)
    report.invalid(path, resources, "if '*' is present, must not specify other resources without subresources");
}

function validateNamedRule(report: Report, path: Path, rule: admission.NamedRuleWithOperations): void {
  const { resourceNames = [] } = rule;
  const isRepeat = repeats();
  resourceNames.forEach((name, index) => {
    const at = path.child('resourceNames').index(index);
    report.problems(at, name, isPathSegmentName(name));
    if (isRepeat(name)) report.duplicate(at, name);
  });
  validateRule(report, path, rule);
}

export function validateMatchResources(report: Report, path: Path, match: admission.MatchResources): void {
  report.known(path.child('matchPolicy'), match.matchPolicy, matchPolicies);
  for (const name of ['namespaceSelector', 'objectSelector'] as const) {
    if (!match[name]) report.required(path.child(name));
    else validateLabelSelector(report, path.child(name), match[name]);
  }
  for (const name of ['resourceRules', 'excludeResourceRules'] as const)
    match[name]?.forEach((rule, index) => validateNamedRule(report, path.child(name).index(index), rule));
}

/** What a policy applies to: at least one rule. */
export function validateConstraints(report: Report, path: Path, match: admission.MatchResources | undefined): void {
  if (!match) return report.required(path);
  validateMatchResources(report, path, match);
  if (isEmpty(match.resourceRules)) report.required(path.child('resourceRules'));
}

/** A mutating policy may name only operations that write an object, because only what is written can be changed. */
export function validateMutatingOperations(report: Report, path: Path, match: admission.MatchResources | undefined): void {
  for (const rule of match?.resourceRules ?? [])
    for (const operation of rule.operations ?? [])
      report.known(path.child('resourceRules', 'operations'), operation, mutatingOperations);
}

export function defaultRule(rule: admission.Rule): void {
  rule.scope ??= '*';
}

export function defaultMatchResources(match: admission.MatchResources | undefined): void {
  if (!match) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) defaultRule(rule);
}

const staticSuffix = '.static.k8s.io';

/** Names that configuration from files uses. */
export const nameWarnings = ({ metadata: { name = '' } }: { metadata: { name?: string } }): string[] =>
  name.endsWith(staticSuffix)
    ? [
        `metadata.name: names ending with "${staticSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : [];
