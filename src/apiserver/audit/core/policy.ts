// Which requests are recorded, and how much of each (audit.k8s.io/v1 Policy; k8s.io/apiserver/pkg/audit/policy).
import type { Attributes, Target } from '../../request/request.ts';

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

/** Whether `level` records at least as much as `wanted`. */
export const records = (level: Level, wanted: Level): boolean => levels.indexOf(level) >= levels.indexOf(wanted);

export interface GroupResources {
  group?: string;
  resources?: readonly string[];
  resourceNames?: readonly string[];
}

export interface PolicyRule {
  level: Level;
  users?: readonly string[];
  userGroups?: readonly string[];
  verbs?: readonly string[];
  resources?: readonly GroupResources[];
  namespaces?: readonly string[];
  nonResourceURLs?: readonly string[];
  omitStages?: readonly Stage[];
  omitManagedFields?: boolean;
}

export interface Policy {
  rules: readonly PolicyRule[];
  omitStages?: readonly Stage[];
  omitManagedFields?: boolean;
}

/** What the policy says about one request. */
export interface Verdict {
  level: Level;
  omitStages: ReadonlySet<Stage>;
  omitManagedFields: boolean;
}

/** Absent and empty lists say nothing. */
type List = readonly string[] | undefined;
const silent = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;
const allows = (list: List, value: string): boolean => silent(list) || (list as readonly string[]).includes(value);

function pathMatches(path: string, spec: string): boolean {
  if (spec === '*' || spec === path) return true;
  return spec.endsWith('*') && path.startsWith(spec.replace(/\*+$/, ''));
}

function resourceMatches({ group = '', resources, resourceNames }: GroupResources, asked: Target): boolean {
  if (group !== asked.group && group !== '*') return false;
  if (silent(resources)) return true;
  if (!allows(resourceNames, asked.name)) return false;
  const { resource, subresource } = asked;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return (resources as readonly string[]).some(
    (wanted) =>
      wanted === '*' ||
      wanted === whole ||
      (subresource !== '' && wanted === `*/${subresource}`) ||
      (wanted.endsWith('/*') && wanted.slice(0, -2) === resource),
  );
}

/** `user` undefined: nobody was recognised. */
type Asked = Omit<Attributes, 'user'> & { user: Attributes['user'] | undefined };

function ruleMatches(rule: PolicyRule, { user, verb, target, path }: Asked): boolean {
  if (!silent(rule.users) && !(user && rule.users?.includes(user.name))) return false;
  if (!silent(rule.userGroups) && !user?.groups.some((group) => rule.userGroups?.includes(group))) return false;
  if (!allows(rule.verbs, verb)) return false;
  if (!silent(rule.namespaces) || !silent(rule.resources)) {
    if (!target || !allows(rule.namespaces, target.namespace)) return false;
    return silent(rule.resources) || (rule.resources as readonly GroupResources[]).some((one) => resourceMatches(one, target));
  }
  if (silent(rule.nonResourceURLs)) return true;
  return !target && (rule.nonResourceURLs as readonly string[]).some((spec) => pathMatches(path ?? '', spec));
}

/** The first rule that matches decides; none: nothing is recorded. */
export function createEvaluator({ rules, omitStages = [], omitManagedFields = false }: Policy): (asked: Asked) => Verdict {
  const none: Verdict = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  const verdicts = rules.map(
    (rule): Verdict => ({
      level: rule.level,
      omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
    }),
  );
  return (asked) => verdicts[rules.findIndex((rule) => ruleMatches(rule, asked))] ?? none;
}
