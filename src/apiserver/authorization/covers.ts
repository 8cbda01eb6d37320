// Whether one set of RBAC rules holds all that another grants (k8s.io/component-helpers/auth/rbac/validation): for escalation checks and
// for bringing default roles up to date.
import type { PolicyRule } from '#api/rbac/v1';

/** The rule as single grants: one verb, one group, one resource, one name each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const grants: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs ?? []) {
        const grant = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (!rule.resourceNames?.length) grants.push(grant);
        else for (const name of rule.resourceNames) grants.push({ ...grant, resourceNames: [name] });
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs ?? []) grants.push({ nonResourceURLs: [url], verbs: [verb] });
  return grants;
}

const holds = (owned: readonly string[] | null | undefined, wanted: readonly string[] | null | undefined): boolean =>
  (wanted ?? []).every((word) => owned?.includes(word) || owned?.includes('*'));

function holdsResources(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return wanted.every((resource) => {
    if (owned.includes('*') || owned.includes(resource)) return true;
    const slash = resource.indexOf('/');
    return slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`);
  });
}

const holdsUrls = (owned: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  wanted.every((url) => owned.some((own) => own === url || (own.endsWith('*') && url.startsWith(own.replace(/\*+$/, '')))));

function holdsNames(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  if (owned.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => owned.includes(name));
}

const ruleHolds = (owner: PolicyRule, grant: PolicyRule): boolean =>
  holds(owner.verbs, grant.verbs) &&
  holds(owner.apiGroups, grant.apiGroups) &&
  holdsResources(owner.resources, grant.resources) &&
  holdsUrls(owner.nonResourceURLs, grant.nonResourceURLs) &&
  holdsNames(owner.resourceNames, grant.resourceNames);

/** The single grants of `wanted` that `owned` does not hold. */
export const uncovered = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted.flatMap(breakDown).filter((grant) => !owned.some((owner) => ruleHolds(owner, grant)));

/** Grants on the same resource (and name) as one rule, in the order of first appearance; the others first. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const complex: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const names = rule.resourceNames ?? [];
    if (rule.nonResourceURLs?.length || names.length > 1 || rule.apiGroups?.length !== 1 || rule.resources?.length !== 1) {
      complex.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups[0], rule.resources[0], names[0] ?? null]);
    const known = simple.get(key);
    simple.set(key, known ? { ...known, verbs: [...(known.verbs ?? []), ...(rule.verbs ?? [])] } : rule);
  }
  return [...complex, ...simple.values()];
}
