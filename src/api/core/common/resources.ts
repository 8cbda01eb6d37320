// Rules for resource names and amounts (pkg/apis/core/validation: ValidateResourceQuantityValue, validateResourceRequirements, ...).
import type { Path } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { isDNS1123Label, isQualifiedName, negativeError } from '#apimachinery/validation';
import type { ResourceClaim, ResourceRequirements } from '#api/core/v1';
import { own } from '#utils';
import { notPositiveError } from '../../common/numbers.ts';
import { isWhole, type ResourceList } from '../../common/quantities.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import * as names from './resource-names.ts';

type NameRule = (report: Report, path: Path, name: string) => void;

/** A qualified name; without a domain it must be one Kubernetes knows. */
export function validateResourceName(report: Report, path: Path, name: string): boolean {
  const before = report.count;
  report.problems(path, name, isQualifiedName(name));
  if (report.count === before && !name.includes('/') && !names.isStandardResourceName(name)) {
    report.invalid(path, name, 'must be a standard resource type or fully qualified');
  }
  return report.count === before;
}

export function validateContainerResourceName(report: Report, path: Path, name: string): void {
  validateResourceName(report, path, name);
  if (!name.includes('/')) {
    if (!names.isStandardContainerResourceName(name)) report.invalid(path, name, 'must be a standard resource for containers');
  } else if (!names.isNativeResource(name) && !names.isExtendedResourceName(name)) {
    report.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

export function validatePodResourceName(report: Report, path: Path, name: string): void {
  if (validateResourceName(report, path, name) && !names.isPodLevelResource(name)) {
    report.notSupported(path, name, names.podLevelResources);
  }
}

export function validateQuotaResourceName(report: Report, path: Path, name: string): void {
  validateResourceName(report, path, name);
  if (!name.includes('/') && !names.isStandardQuotaResourceName(name)) {
    report.invalid(path, name, 'must be a standard resource for quota');
  }
}

/** Requires an amount that is not negative, and whole where the resource is counted. */
export function validateResourceQuantity(report: Report, path: Path, name: string, amount: string): void {
  if (parseQuantity(amount).sign < 0) report.invalid(path, amount, negativeError);
  if (names.isIntegerResourceName(name) && !isWhole(amount)) report.invalid(path, amount, 'must be an integer');
}

export function validatePositiveQuantity(report: Report, path: Path, amount: string): void {
  if (parseQuantity(amount).sign <= 0) report.invalid(path, amount, notPositiveError);
}

/** An amount that only may not be negative (`validateBasicResource`). */
export function validateBasicResource(report: Report, path: Path, amount: string): void {
  const quantity = parseQuantity(amount);
  if (quantity.sign < 0) report.invalid(path, quantity.value(), 'must be a valid resource quantity');
}

export interface ResourceRules {
  /** Names of the pod's claims; undefined outside pods. */
  claimNames?: ReadonlySet<string>;
  /** The old object had huge page amounts that are no multiple of the page. */
  allowIndivisibleHugePages?: boolean;
}

/** Checks the requests and limits of a container. */
export const validateContainerResources = (
  report: Report,
  path: Path,
  resources: ResourceRequirements | undefined,
  rules: ResourceRules,
): void => validateRequirements(report, path, resources, validateContainerResourceName, rules);

/** Checks the requests and limits of a whole pod. */
export const validatePodLevelResources = (
  report: Report,
  path: Path,
  resources: ResourceRequirements,
  rules: ResourceRules,
): void => validateRequirements(report, path, resources, validatePodResourceName, rules);

function validateRequirements(
  report: Report,
  path: Path,
  resources: ResourceRequirements | undefined,
  nameRule: NameRule,
  rules: ResourceRules,
): void {
  if (resources === undefined || resources === null) return;
  const { limits = {}, requests = {} } = resources;
  for (const name in limits) validateAmount(report, path.child('limits').key(name), name, limits[name] ?? '0', nameRule, rules);
  for (const name in requests) {
    const amount = requests[name] ?? '0';
    const at = path.child('requests').key(name);
    nameRule(report, at, name);
    validateResourceQuantity(report, at, name, amount);
    validateAgainstLimit(report, path, name, amount, own(limits, name));
    validateHugePages(report, at, name, amount, rules);
  }
  const all = [...Object.keys(limits), ...Object.keys(requests)];
  if (all.some(names.isHugePageResourceName) && !all.some((name) => name === 'cpu' || name === 'memory')) {
    report.forbidden(path, 'HugePages require cpu or memory');
  }
  if (!isEmpty(resources.claims)) validateClaimNames(report, path.child('claims'), resources.claims ?? [], rules.claimNames);
}

function validateAmount(
  report: Report,
  path: Path,
  name: string,
  amount: string,
  nameRule: NameRule,
  rules: ResourceRules,
): void {
  nameRule(report, path, name);
  validateResourceQuantity(report, path, name, amount);
  validateHugePages(report, path, name, amount, rules);
}

function validateHugePages(report: Report, path: Path, name: string, amount: string, rules: ResourceRules): void {
  if (!names.isHugePageResourceName(name) || rules.allowIndivisibleHugePages || names.isHugePageDivisible(name, amount)) return;
  report.invalid(path, amount, `${amount} is not positive integer multiple of ${name}`);
}

function validateAgainstLimit(report: Report, path: Path, name: string, amount: string, limit: string | undefined): void {
  if (limit === undefined) {
    if (!names.isOvercommitAllowed(name))
      report.required(path.child('limits'), 'Limit must be set for non overcommitable resources');
    return;
  }
  const difference = parseQuantity(amount).compare(parseQuantity(limit));
  if (difference !== 0 && !names.isOvercommitAllowed(name)) {
    report.invalid(path.child('requests'), amount, `must be equal to ${name} limit of ${limit}`);
  } else if (difference > 0)
    report.invalid(path.child('requests'), amount, `must be less than or equal to ${name} limit of ${limit}`);
}

function validateClaimNames(
  report: Report,
  path: Path,
  claims: ResourceClaim[],
  podClaims: ReadonlySet<string> = new Set(),
): void {
  const seen = new Set<string>();
  claims.forEach((claim, index) => {
    const at = path.index(index);
    const { name } = claim;
    if (isEmpty(name)) return report.required(at);
    if (seen.has(name)) report.duplicate(at, name);
    else seen.add(claimKey(report, at, claim, seen));
    if (!podClaims.has(name)) report.notFound(at, name, missingClaim(podClaims));
  });
}

function claimKey(report: Report, path: Path, claim: ResourceClaim, seen: ReadonlySet<string>): string {
  const { name, request } = claim;
  if (request) {
    report.problems(path.child('request'), request, isDNS1123Label(request));
    const key = `${name}/${request}`;
    if (seen.has(key)) report.duplicate(path, key);
    return key;
  }
  for (const key of seen) if (key.startsWith(`${name}/`)) report.duplicate(path, name);
  return name;
}

const missingClaim = (known: ReadonlySet<string>): string =>
  `must be one of the names in pod.spec.resourceClaims${known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`}`;

/** True when any huge page amount is no multiple of its page: then an update may keep such amounts. */
export const hasIndivisibleHugePages = (lists: (ResourceList | undefined)[]): boolean =>
  lists.some((list) =>
    Object.entries(list ?? {}).some(
      ([name, amount]) => names.isHugePageResourceName(name) && !names.isHugePageDivisible(name, amount),
    ),
  );
