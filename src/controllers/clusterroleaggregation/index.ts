// Fills cluster roles that are put together from others (pkg/controller/clusterroleaggregation).
import type { ClusterRole, PolicyRule } from '#api/rbac/v1';
import { fromLabelSelector, type LabelSelector } from '#apimachinery/labels';
import { type ControllerDefinition, defineController, type Plan, watch } from '#controller-runtime';
import { clusterRoles, refOf } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { deepEqual } from '#utils';

export interface AggregationView {
  role: ClusterRole | undefined;
  roles: readonly ClusterRole[];
}

const byName = (a: ClusterRole, b: ClusterRole): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

const labelText = (key: string, value: string): string => `${key}=${value}`;

/** The roles that a selector may match: those with one of the labels that it names, or all where it names none. */
function candidatesAmong(roles: readonly ClusterRole[]): (selector: LabelSelector) => readonly ClusterRole[] {
  const byLabel = new Map<string, ClusterRole[]>();
  for (const role of roles)
    for (const [key, value] of Object.entries(role.metadata.labels ?? {})) {
      const text = labelText(key, value);
      const those = byLabel.get(text);
      if (those) those.push(role);
      else byLabel.set(text, [role]);
    }
  return ({ matchLabels }) => {
    const [wanted] = Object.entries(matchLabels ?? {});
    return wanted ? (byLabel.get(labelText(...wanted)) ?? []) : roles;
  };
}

/** The rules of all roles that are selected, each once. */
export function aggregate(role: ClusterRole, roles: readonly ClusterRole[]): PolicyRule[] {
  const others = roles.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const candidates = candidatesAmong(others);
  const taken = new Set<ClusterRole>();
  const rules = new Map<string, PolicyRule>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    if (taken.size === others.length) break;
    const labels = fromLabelSelector(selector);
    for (const other of candidates(selector)) {
      if (taken.has(other) || !labels.matches(other.metadata.labels ?? {})) continue;
      taken.add(other);
      for (const rule of other.rules ?? []) {
        const text = JSON.stringify(rule, Object.keys(rule).sort());
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}

export function reconcileAggregation({ role, roles }: AggregationView): Plan {
  if (!role?.aggregationRule) return { effects: [] };
  const rules = aggregate(role, roles);
  if (deepEqual(rules, role.rules ?? [])) return { effects: [] };
  const body = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: role.metadata.name },
    rules,
  };
  return {
    effects: [
      {
        op: 'patch',
        ref: refOf(clusterRoles, role),
        type: 'application/apply-patch+yaml',
        body,
        force: true,
        fieldManager: 'clusterrole-aggregation-controller',
      },
    ],
    because: 'Roles that are part of this one were added, changed or removed.',
  };
}

export const clusterRoleAggregationController: ControllerDefinition = defineController<AggregationView>({
  name: 'clusterrole-aggregation-controller',
  aliases: ['clusterrole-aggregation'],
  for: clusterRoles,
  rights: [allow('escalate,get,list,patch,update,watch', 'rbac.authorization.k8s.io', 'clusterroles')],
  watches: [
    watch<ClusterRole>({
      resource: clusterRoles,
      keys: (_role, _old, cache) =>
        cache
          .list<ClusterRole>(clusterRoles)
          .filter(({ aggregationRule }) => aggregationRule)
          .map(({ metadata }) => metadata.name ?? ''),
    }),
  ],
  view: (key, cache) => {
    const role = cache.get<ClusterRole>(clusterRoles, '', key);
    return { role, roles: role?.aggregationRule ? cache.list<ClusterRole>(clusterRoles) : [] };
  },
  reconcile: reconcileAggregation,
});
