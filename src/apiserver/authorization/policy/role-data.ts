// The notation of the role tables, and what objects they stand for.
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject } from '#api/rbac/v1';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** Rules alone, or with aggregation: `aggregateTo` marks the role as a part of that one, `aggregates` makes it the sum of its parts (it has no `rules`). */
export type RoleData = readonly string[] | { aggregateTo?: string; aggregates?: string; rules?: readonly string[] };

const list = (words: string): string[] => words.split(',');

/** `get,list core,apps pods [names]`, or `get - /healthz,/livez`. Throws an Error for a line of another form. */
export function parseRule(line: string): PolicyRule {
  const [verbs, groups, what, names, ...rest] = line.split(' ');
  if (!verbs || !groups || !what || rest.length > 0) throw new Error(`malformed rule: ${line}`);
  if (groups === '-') return { verbs: list(verbs), nonResourceURLs: list(what) };
  return {
    verbs: list(verbs),
    apiGroups: list(groups).map((group) => (group === 'core' ? '' : group)),
    resources: list(what),
    ...(names !== undefined && { resourceNames: list(names) }),
  };
}

const aggregateLabel = (to: string): string => `rbac.authorization.k8s.io/aggregate-to-${to}`;

const metadata = (name: string, namespace?: string) => ({
  name,
  ...(namespace !== undefined && { namespace }),
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } as Record<string, string>,
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

export const isRules = (data: RoleData): data is readonly string[] => Array.isArray(data);

/** The ClusterRole of one line of a table. */
export function clusterRole(name: string, data: RoleData): ClusterRole {
  const { rules, aggregateTo, aggregates }: Exclude<RoleData, readonly string[]> = isRules(data) ? { rules: data } : data;
  const meta = metadata(name);
  if (aggregateTo !== undefined) meta.labels[aggregateLabel(aggregateTo)] = 'true';
  return {
    metadata: meta,
    ...(rules && { rules: rules.map(parseRule) }),
    ...(aggregates !== undefined && {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateLabel(aggregates)]: 'true' } }] },
    }),
  };
}

export const role = (namespace: string, name: string, rules: readonly string[]): Role => ({
  metadata: metadata(name, namespace),
  rules: rules.map(parseRule),
});

/** Reads a subject, written as `user:x`, `group:x` or `sa:namespace/name`. */
export function parseSubject(text: string): Subject {
  const colon = text.indexOf(':');
  const name = text.slice(colon + 1);
  if (text.startsWith('user:')) return { kind: 'User', apiGroup: rbacGroup, name };
  if (text.startsWith('group:')) return { kind: 'Group', apiGroup: rbacGroup, name };
  const slash = name.indexOf('/');
  return { kind: 'ServiceAccount', name: name.slice(slash + 1), namespace: name.slice(0, slash) };
}

export const clusterRoleBinding = (name: string, roleName: string, subjects: readonly string[]): ClusterRoleBinding => ({
  metadata: metadata(name),
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: roleName },
  ...(subjects.length > 0 && { subjects: subjects.map(parseSubject) }),
});

export const roleBinding = (namespace: string, name: string, roleName: string, subjects: readonly string[]): RoleBinding => ({
  metadata: metadata(name, namespace),
  roleRef: { apiGroup: rbacGroup, kind: 'Role', name: roleName },
  subjects: subjects.map(parseSubject),
});
