// Which flow schema a request belongs to, and which flow of it (https://kubernetes.io/docs/concepts/cluster-administration/flow-control/). Pure.
import type { FlowSchema, PolicyRulesWithSubjects, Subject } from '#api/flowcontrol/v1';
import type { Attributes, UserInfo } from '../../request/request.ts';

const serviceAccountPrefix = 'system:serviceaccount:';

function isSubject({ kind, user, group, serviceAccount }: Subject, { name, groups }: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return user?.name === '*' || user?.name === name;
    case 'Group':
      return group?.name === '*' || groups.includes(group?.name ?? '');
    case 'ServiceAccount': {
      const prefix = `${serviceAccountPrefix}${serviceAccount?.namespace ?? ''}:`;
      return serviceAccount?.name === '*' ? name.startsWith(prefix) : name === prefix + (serviceAccount?.name ?? '');
    }
    default:
      return false;
  }
}

const has = (list: readonly string[] | null | undefined, value: string): boolean =>
  list?.some((one) => one === '*' || one === value) ?? false;

const matchesPath = (urls: readonly string[] | null | undefined, path: string): boolean =>
  urls?.some((url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))) ?? false;

function matchesRule(
  { resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects,
  { verb, target, path = '' }: Attributes,
): boolean {
  if (!target)
    return (nonResourceRules ?? []).some(({ verbs, nonResourceURLs }) => has(verbs, verb) && matchesPath(nonResourceURLs, path));
  const { group, resource, subresource, namespace } = target;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  return (resourceRules ?? []).some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      has(rule.resources, full) &&
      (namespace === '' ? rule.clusterScope === true : has(rule.namespaces, namespace)),
  );
}

interface Candidate {
  schema: FlowSchema;
  rules: readonly PolicyRulesWithSubjects[];
}

/** Finds schemas in order of precedence; what a user's schemas are is looked up once for each user object. */
export class FlowMatcher {
  readonly #schemas: readonly FlowSchema[];
  readonly #ofUser = new WeakMap<UserInfo, Candidate[]>();

  constructor(schemas: readonly FlowSchema[]) {
    const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 0;
    const name = ({ metadata }: FlowSchema): string => metadata.name ?? '';
    this.#schemas = [...schemas].sort((a, b) => precedence(a) - precedence(b) || (name(a) < name(b) ? -1 : 1));
  }

  /** A user of no group that the catch-all names, as a webhook may know one, is let in by it, too. Undefined: there are no schemas yet. */
  find(request: Attributes): FlowSchema | undefined {
    for (const { schema, rules } of this.#candidates(request.user))
      if (rules.some((rule) => matchesRule(rule, request))) return schema;
    return this.#schemas.find(({ metadata }) => metadata.name === 'catch-all');
  }

  #candidates(user: UserInfo): Candidate[] {
    const known = this.#ofUser.get(user);
    if (known) return known;
    const candidates = this.#schemas.flatMap((schema) => {
      const rules = (schema.spec?.rules ?? []).filter(({ subjects }) => subjects?.some((subject) => isSubject(subject, user)));
      return rules.length > 0 ? [{ schema, rules }] : [];
    });
    this.#ofUser.set(user, candidates);
    return candidates;
  }
}

/** Requests of one flow wait for each other, not for those of another. */
export function distinguisherOf({ spec }: FlowSchema, { user, target }: Attributes): string {
  const type = spec?.distinguisherMethod?.type;
  if (type === 'ByUser') return user.name;
  return type === 'ByNamespace' ? (target?.namespace ?? '') : '';
}
