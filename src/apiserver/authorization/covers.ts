// Whether one set of RBAC rules holds all that another grants (k8s.io/component-helpers/auth/rbac/validation): for escalation checks and
// for bringing default roles up to date.
import type { PolicyRule } from '#api/rbac/v1';
import { type Steps, withoutTrailing } from '#utils';
import { grantsMax, looksPerStep } from './limits.ts';

/** Which grants are still to be looked at: single ones, one verb, one group, one resource, one name each. They are not made before they are asked for. */
function* grantsOf(rule: PolicyRule): Iterable<PolicyRule> {
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs ?? []) {
        const grant = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (!rule.resourceNames?.length) yield grant;
        else for (const name of rule.resourceNames) yield { ...grant, resourceNames: [name] };
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs ?? []) yield { nonResourceURLs: [url], verbs: [verb] };
}

const lengthOf = (words: readonly string[] | null | undefined): number => words?.length ?? 0;

const countOf = ({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: PolicyRule): number =>
  lengthOf(verbs) *
  (lengthOf(apiGroups) * lengthOf(resources) * Math.max(lengthOf(resourceNames), 1) + lengthOf(nonResourceURLs));

type Words = readonly string[] | null | undefined;

/** What somebody holds by one rule. */
interface Held {
  verbs: ReadonlySet<string>;
  apiGroups: ReadonlySet<string>;
  resources: ReadonlySet<string>;
  resourceNames: ReadonlySet<string>;
  urls: ReadonlySet<string>;
  /** What URLs begin with that are held by a pattern. */
  urlPrefixes: readonly string[];
}

const heldBy = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Held => ({
  verbs: new Set(verbs),
  apiGroups: new Set(apiGroups),
  resources: new Set(resources),
  resourceNames: new Set(resourceNames),
  urls: new Set(nonResourceURLs),
  urlPrefixes: (nonResourceURLs ?? []).filter((url) => url.endsWith('*')).map((url) => withoutTrailing(url, '*')),
});

const holds = (held: ReadonlySet<string>, wanted: Words): boolean =>
  held.has('*') || (wanted ?? []).every((word) => held.has(word));

const holdsResources = (held: ReadonlySet<string>, wanted: Words): boolean =>
  held.has('*') ||
  (wanted ?? []).every((resource) => {
    const slash = resource.indexOf('/');
    return held.has(resource) || (slash >= 0 && held.has(`*/${resource.slice(slash + 1)}`));
  });

const holdsUrls = ({ urls, urlPrefixes }: Held, wanted: Words): boolean =>
  (wanted ?? []).every((url) => urls.has(url) || urlPrefixes.some((prefix) => url.startsWith(prefix)));

const holdsNames = (held: ReadonlySet<string>, wanted: Words): boolean =>
  held.size === 0 || (lengthOf(wanted) > 0 && (wanted ?? []).every((name) => held.has(name)));

const holdsRule = (held: Held, rule: PolicyRule): boolean =>
  holds(held.verbs, rule.verbs) &&
  holds(held.apiGroups, rule.apiGroups) &&
  holdsResources(held.resources, rule.resources) &&
  holdsUrls(held, rule.nonResourceURLs) &&
  holdsNames(held.resourceNames, rule.resourceNames);

/** Rules that say more single grants than are compared one by one. */
export class TooManyGrants extends Error {
  readonly count: number;

  constructor(count: number) {
    super(
      `the rules stand for ${count} single permissions, at most ${grantsMax} of which no rule holds as they are can be compared`,
    );
    this.count = count;
  }
}

/**
 * The single grants of `wanted` that `owned` does not hold. A rule that one other holds as it is costs its words; of the others every single grant is looked at,
 * so there may be so many of them: throws `TooManyGrants`.
 */
export function* uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): Steps<PolicyRule[]> {
  const held = owned.map(heldBy);
  const open: PolicyRule[] = [];
  for (const rule of wanted) {
    if (!held.some((one) => holdsRule(one, rule))) open.push(rule);
    yield;
  }
  const count = open.reduce((sum, rule) => sum + countOf(rule), 0);
  if (count > grantsMax) throw new TooManyGrants(count);
  const missing: PolicyRule[] = [];
  let looks = 0;
  for (const rule of open) {
    for (const grant of grantsOf(rule)) {
      if (!held.some((one) => holdsRule(one, grant))) missing.push(grant);
      looks += held.length + 1;
      if (looks < looksPerStep) continue;
      looks = 0;
      yield;
    }
  }
  return missing;
}

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
