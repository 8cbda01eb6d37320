// Rules of resource quotas (pkg/apis/core/validation, ValidateResourceQuota; scopes: pkg/apis/core/helper).
import type { ResourceQuota, ResourceQuotaSpec } from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { immutableError } from '#apimachinery/validation';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { isStandardQuotaResourceName } from '../common/resource-names.ts';
import { validateQuotaResourceName, validateResourceQuantity } from '../common/resources.ts';

const podResources = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];

/** What a scope can be applied to. */
const scopeResources: Record<string, readonly string[]> = {
  Terminating: podResources,
  NotTerminating: podResources,
  BestEffort: ['pods'],
  NotBestEffort: podResources,
  PriorityClass: podResources,
  CrossNamespacePodAffinity: podResources,
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
};

const isKnown = (scope: string): boolean => Object.hasOwn(scopeResources, scope);
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const onlyExists = new Set(['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']);
const onlyExistsText =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

export function validateAmounts(report: Report, path: Path, amounts: Record<string, string> | undefined): void {
  for (const name of Object.keys(amounts ?? {}).sort()) {
    validateQuotaResourceName(report, path.key(name), name);
    validateResourceQuantity(report, path.key(name), name, amounts?.[name] ?? '0');
  }
}

/** Reports each counted resource that a scope says nothing about, for scopes of which there may be many, all the same. */
function scopeValidator(report: Report, { hard }: ResourceQuotaSpec): (path: Path, scope: string, shown: () => unknown) => void {
  const counted = Object.keys(hard ?? {}).filter(isStandardQuotaResourceName);
  const unsupported = new Map<string, number>();
  const unsupportedBy = (scope: string): number => counted.filter((name) => !scopeResources[scope]?.includes(name)).length;
  return (path, scope, shown) => {
    if (!isKnown(scope)) return;
    const count = unsupported.get(scope) ?? unsupportedBy(scope);
    unsupported.set(scope, count);
    for (let at = 0; at < count; at++) report.invalid(path, shown(), 'unsupported scope applied to resource');
  };
}

function validateConflicts(report: Report, path: Path, scopes: readonly string[], shown: unknown): void {
  for (const [one, other] of conflicts) {
    if (scopes.includes(one) && scopes.includes(other)) report.invalid(path, shown, 'conflicting scopes');
  }
}

function validateScopes(report: Report, path: Path, spec: ResourceQuotaSpec): void {
  const { scopes = [] } = spec;
  const validateResources = scopeValidator(report, spec);
  for (const scope of scopes) {
    if (!isKnown(scope)) report.invalid(path, scopes, 'unsupported scope');
    validateResources(path, scope, () => scopes);
  }
  validateConflicts(report, path, scopes, scopes);
}

// As upstream's internal type prints.
const printedSelector = ({ scopeSelector }: ResourceQuotaSpec): unknown => ({
  MatchExpressions:
    scopeSelector?.matchExpressions?.map(({ scopeName, operator, values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })) ?? null,
});

function validateScopeSelector(report: Report, path: Path, spec: ResourceQuotaSpec): void {
  const expressions = spec.scopeSelector?.matchExpressions ?? [];
  const validateResources = scopeValidator(report, spec);
  let printed: unknown;
  const shown = (): unknown => (printed ??= printedSelector(spec));
  for (const { scopeName: scope = '', operator = '', values } of expressions) {
    if (!isKnown(scope)) report.invalid(path.child('scopeName'), scope, 'unsupported scope');
    validateResources(path, scope, shown);
    if (onlyExists.has(scope) && operator !== 'Exists') report.invalid(path.child('operator'), operator, onlyExistsText);
    if (operator === 'In' || operator === 'NotIn') {
      const text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (isEmpty(values)) report.required(path.child('values'), text);
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      const text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (!isEmpty(values)) report.invalid(path.child('values'), values, text);
    } else report.invalid(path.child('operator'), operator, 'not a valid selector operator');
  }
  const scopes = expressions.map(({ scopeName }) => scopeName);
  validateConflicts(report, path, scopes, spec.scopes ?? null);
}

function validateSpec(report: Report, spec: ResourceQuotaSpec): void {
  validateAmounts(report, root('spec', 'hard'), spec.hard);
  validateScopes(report, root('spec', 'scopes'), spec);
  validateScopeSelector(report, root('spec', 'scopeSelector', 'matchExpressions'), spec);
}

export const validateResourceQuota = ({ spec = {} }: ResourceQuota): FieldError[] =>
  collect((report) => validateSpec(report, spec));

export const validateResourceQuotaUpdate = ({ spec = {} }: ResourceQuota, old: ResourceQuota): FieldError[] =>
  collect((report) => {
    validateSpec(report, spec);
    const text = (scopes: string[] = []): string => JSON.stringify([...new Set(scopes)].sort());
    if (text(spec.scopes) !== text(old.spec?.scopes)) report.invalid(root('spec', 'scopes'), spec.scopes ?? null, immutableError);
  });

export const validateResourceQuotaStatus = ({ metadata, status }: ResourceQuota): FieldError[] =>
  collect((report) => {
    if (!metadata.resourceVersion) report.required(root('resourceVersion'));
    validateAmounts(report, root('status', 'hard'), status?.hard);
    validateAmounts(report, root('status', 'used'), status?.used);
  });
